"""Every text field of a stack file, from the schema, and hostile texts for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from trainyard.components.config.base import Form
from trainyard.components.config.given_stack import GivenStack


def unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type in an annotation, and the metadata of each `Annotated`, inmost first."""
    if get_origin(annotation) is Annotated:
        inner, *metadata = get_args(annotation)
        plain, deeper = unwrapped(inner)
        return plain, (*deeper, *metadata)
    return annotation, ()


CANARY = "CANARY"
"""Name of the file that every hostile text would create if a shell executed it."""
COMMANDS = (
    f"$(touch ${{IFS%??}}{CANARY})",
    f"$(touch${{IFS}}{CANARY})",
    f"`touch${{IFS}}{CANARY}`",
    f";touch${{IFS}}{CANARY};",
    f"'$(touch${{IFS}}{CANARY})'",
    f'"$(touch${{IFS}}{CANARY})"',
    f"&touch${{IFS}}{CANARY}&",
    f"|touch${{IFS}}{CANARY}",
    f"\ntouch {CANARY}\n",
)
"""Texts that a shell would execute, quoted and unquoted."""
TEMPLATES = ("{{ x }}", "{{resolve:ssm:x}}", "${aws:region}", "%s%n", "#{x}", "@name@", "<%= x %>")
"""Placeholders of several kinds of templates."""
TERMINAL = ("\x1b[2J", "\x1b]0;x\x07", "\x00", "\r", "\u2028", "\u202e", "\u200f", "\x9b2J", "\xa0")
"""Characters that control a terminal or are invisible."""
MARKUP = ("[bold]x[/bold]", "[link=http://x]y[/link]", "::error::x", "##[error]x", "<b>x</b>")
PATHS = ("../../etc/passwd", "-rf", "--help", "~root", "x/../y", "//x", "\\\\x")


@dataclass(frozen=True, slots=True)
class TextField:
    """One text of the schema: a field, an entry of a field, or a key."""

    model: str
    field: str
    type_: Any
    takes: TypeAdapter[Any]
    """The validator of the text."""

    def __str__(self) -> str:
        """Return a readable name."""
        return f"{self.model}.{self.field}"

    def accepts(self, text: str) -> bool:
        """Return whether a text is valid there."""
        try:
            self.takes.validate_python(text)
        except ValidationError:
            return False
        return True

    def variants(self, hostile: str) -> list[str]:
        """Return a hostile text alone, and inside a text that matches the pattern of the field."""
        fitting = [example for example in (_example(self.type_), *_BEGINNINGS) if example]
        return [hostile, *(f"{each}{hostile}" for each in fitting)]


_BEGINNINGS = ("/x", "x", "https://x/", "s3://bucket/", "x=", "public.ecr.aws/x/y:1", "10.0.0.0/16")


def text_fields() -> list[TextField]:
    """Return every text of the schema, sorted by name."""
    found = {(each.model, each.field, repr(each.type_)): each for each in _of_model(GivenStack)}
    return [found[key] for key in sorted(found)]


def _of_model(
    model: type[BaseModel], seen: set[type[BaseModel]] | None = None
) -> Iterator[TextField]:
    seen = set() if seen is None else seen
    if model in seen:
        return
    seen.add(model)
    for name, field in model.model_fields.items():
        annotation: Any = field.annotation
        if field.metadata:
            annotation = Annotated[annotation, *field.metadata]
        for leaf in _leaves(annotation):
            if isinstance(leaf, type) and issubclass(leaf, BaseModel):
                yield from _of_model(leaf, seen)
            elif _is_text(leaf):
                yield TextField(model.__name__, name, leaf, TypeAdapter(leaf))


def _leaves(annotation: Any) -> Iterator[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner = get_args(annotation)[0]
        if _is_text(inner) or inner is str:
            yield annotation
        else:
            yield from _leaves(inner)
    elif origin in (Union, UnionType, dict, tuple, list):
        for argument in get_args(annotation):
            if argument is not Ellipsis:
                yield from _leaves(argument)
    elif origin is not Literal:
        yield annotation


def _is_text(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_text(get_args(annotation)[0])
    return annotation is str


def _example(annotation: Any) -> str | None:
    forms = (each for each in get_args(annotation)[1:] if isinstance(each, Form))
    return next((form.example for form in forms), None)
