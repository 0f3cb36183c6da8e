"""Find the model and the field of a location in the stack file, and place errors of pydantic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from trainyard.components.config.base import Form, field_docs
from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.problems import ROOT, example_of, set_command
from trainyard.components.plain_text import printable

# Find the model and the field of a location in the stack file.
#
# Pydantic reports the location of an error, but not the valid keys there. This module walks the
# models along the location to find them.


Location = tuple[str | int, ...]
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def path_of(location: Location) -> str:
    """Return a location in the syntax of `pulumi config set --path`.

    A key with characters other than letters, digits, `_` and `-` is in brackets and quotes, as in
    `trainyard:cluster.tags["cost.center"]`.
    """
    path = ROOT
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            path += f".{part}"
        else:
            path += '["{}"]'.format(printable(part.replace('"', '\\"')))
    return path


def location_in(raw: Any, loc: Sequence[str | int]) -> Location:
    """Return pydantic's location without the tags of unions, which are not in the stack file."""
    location: list[str | int] = []
    value = raw
    for part in loc:
        here = mapping_of(value)
        if part not in here and here.get("kind") == part:
            continue
        location.append(part)
        value = value_at(value, (part,))
    return tuple(location)


def value_at(raw: Any, location: Location) -> Any:
    """Return the value at a location; None without a value."""
    value = raw
    for part in location:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or an empty one in the place of any other value."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """The schema of one location in the stack file."""

    annotation: Any
    """Type of the value."""
    field: FieldInfo | None
    """The model field; None for entries of lists and mappings."""
    docs: str = ""
    """Docstring of the field."""

    @property
    def model(self) -> type[BaseModel] | None:
        """The model of the value, if it is a single model and not a union."""
        models = list(_models(self.annotation))
        return models[0] if len(models) == 1 else None

    @property
    def is_text(self) -> bool:
        """Whether the value is text of any form, but no time and no choice."""
        return any(each is str for each in _alternatives(self.annotation))

    @property
    def example(self) -> str | None:
        """An example value, if the type has a pattern."""
        return _example(self.annotation, self.field.metadata if self.field else ())

    @property
    def description(self) -> str:
        """First sentence of the field's description; empty without one."""
        text = " ".join(self.docs.split())
        return re.split(r"(?<=[.:;])\s", text, maxsplit=1)[0].rstrip(".:;")


def place_at(root: type[BaseModel], raw: Any, location: Location) -> KeyPlace | None:
    """Return the schema of a location, or None for an unknown key."""
    place = KeyPlace(root, None)
    value = raw
    for part in location:
        following = _step(place, value, part)
        if following is None:
            return None
        place, value = following, value_at(value, (part,))
    return place


def _step(place: KeyPlace, value: Any, part: str | int) -> KeyPlace | None:
    model = _model_for(place.annotation, value)
    if model is not None:
        name = str(part)
        field = model.model_fields.get(name)
        return KeyPlace(field.annotation, field, field_docs(model).get(name, "")) if field else None
    for annotation in _alternatives(place.annotation):
        arguments = get_args(annotation)
        if get_origin(annotation) is dict:
            return KeyPlace(arguments[1], None)
        if get_origin(annotation) is tuple:
            return KeyPlace(arguments[0], None)
    return None


def model_at(root: type[BaseModel], raw: Any, location: Location) -> type[BaseModel] | None:
    """Return the model of a location, selected by its `kind`."""
    place = place_at(root, raw, location)
    return _model_for(place.annotation, value_at(raw, location)) if place else None


def kinds_with(root: type[BaseModel], raw: Any, location: Location) -> list[str]:
    """Return the kinds whose models have a key, if its parent is a union of several kinds."""
    *parents, key = location
    place = place_at(root, raw, tuple(parents))
    models = list(_models(place.annotation)) if place else []
    return [
        kind
        for model in models
        if len(models) > 1 and key in model.model_fields
        for kind in get_args(model.model_fields["kind"].annotation)
    ]


def _model_for(annotation: Any, value: Any) -> type[BaseModel] | None:
    models = list(_models(annotation))
    if len(models) == 1:
        return models[0]
    kind = mapping_of(value).get("kind")
    for model in models:
        if kind in get_args(model.model_fields["kind"].annotation):
            return model
    return None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    for alternative in _alternatives(annotation):
        if isinstance(alternative, type) and issubclass(alternative, BaseModel):
            yield alternative


def _alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, or the type itself, without `Annotated` around them."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _alternatives(get_args(annotation)[0])
    elif origin is Union or origin is UnionType:
        for member in get_args(annotation):
            yield from _alternatives(member)
    else:
        yield annotation


def _example(annotation: Any, metadata: Sequence[Any]) -> str | None:
    for item in metadata:
        if isinstance(item, Form):
            return item.example
    if get_origin(annotation) is Annotated:
        return _example(get_args(annotation)[0], get_args(annotation)[1:])
    if get_origin(annotation) in (Union, UnionType, tuple):
        return next((found for a in get_args(annotation) if (found := _example(a, ()))), None)
    return None


def kinds_of(annotation: Any) -> list[str]:
    """Return the kinds of a union of models; empty for other types."""
    models = list(_models(annotation))
    if len(models) < 2:
        return []
    return [kind for m in models for kind in get_args(m.model_fields["kind"].annotation)]


def literals_of(annotation: Any) -> list[str]:
    """Return the values that a literal type allows; empty for every other type."""
    return [
        str(value)
        for alternative in _alternatives(annotation)
        if get_origin(alternative) is Literal
        for value in get_args(alternative)
    ]


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One error of pydantic, placed in the stack file."""

    raw: Any
    stack_file: str
    location: Location
    error: ErrorDetails

    @property
    def path(self) -> str:
        """The location, in the syntax of `pulumi config set --path`."""
        return path_of(self.location)

    @property
    def found(self) -> Any:
        """The value at the location, if any."""
        return value_at(self.raw, self.location)

    @property
    def context(self) -> Mapping[str, Any]:
        """The context of the error, by name."""
        return self.error.get("ctx") or {}

    @property
    def place(self) -> KeyPlace | None:
        """The schema of the location; None for an unknown key."""
        return place_at(GivenStack, self.raw, self.location)

    @property
    def example(self) -> str:
        """An example of a valid value."""
        place = self.place
        return (place.example if place else None) or "VALUE"

    def set_to(self, value: str) -> str:
        """Return the command that sets a value here."""
        return set_command(path_of(self.location), value, stack_file=self.stack_file)

    def example_of(self, value: str, location: Location | None = None) -> str:
        """Return how to set a value that only the user knows.

        For an id it is the command with `…` in place of the digits, which cannot be run as it is;
        otherwise an example that is no command.
        """
        path = path_of(self.location if location is None else location)
        shown = re.sub(r"-[0-9a-f]{17}$", "-…", value)
        if shown != value:
            return set_command(path, shown, stack_file=self.stack_file)
        return example_of(path, value, stack_file=self.stack_file)

    @property
    def parent(self) -> SchemaError:
        """The same error, placed at the section of this place."""
        return SchemaError(self.raw, self.stack_file, self.location[:-1], self.error)

    def below(self, key: str) -> SchemaError:
        """Return the same error, placed at a key of this place."""
        return SchemaError(self.raw, self.stack_file, (*self.location, key), self.error)
