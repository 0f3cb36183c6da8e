"""Generated stack files: from the schema, or from valid files by a few changes."""

from __future__ import annotations

import copy
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from annotated_types import Ge, Le, MaxLen, MinLen
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from tests.support.changes.bases import NAMES, raw_of
from tests.support.corpus.case import good
from tests.support.text_fields import COMMANDS, MARKUP, PATHS, TEMPLATES, TERMINAL, unwrapped
from trainyard.components.config.base import Form
from trainyard.components.config.given_stack import GivenStack

ODD: tuple[Any, ...] = (
    *(None, True, False, "", [], {}, [None], [[]], {"kind": "x"}, {"": ""}),
    *(-1, 0, 1.5, 10**15, "x" * 300, "10", "true", "null", ["x"], {"x": {"x": ["x"]}}),
)
"""Values that hardly any key accepts."""
_STRAY = ("trainyard:vpc_id", "aws:profile", "aws:region", "other:cluster", "aws:skipMetadataApi")
_MOST_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Place:
    """A present or possible key of a configuration."""

    container: Any
    key: Any
    annotation: Any
    """Its type in the schema; None below keys that the schema does not know."""

    @property
    def is_there(self) -> bool:
        """Whether the file has it."""
        return isinstance(self.container, list) or self.key in self.container


@dataclass(frozen=True, slots=True)
class RandomStack:
    """A stack file."""

    text: str
    doubled: bool
    """Return whether a mapping has a duplicate key, which makes the file ambiguous."""


@cache
def bases() -> tuple[Mapping[str, Any], ...]:
    """Return valid configurations: every stack file, the corpus, storage of every kind, labels."""
    cases = [case.raw for case in good() if case.stack]
    return (*cases, *(raw_of(name) for name in NAMES), _labelled())


def _labelled() -> dict[str, Any]:
    """Return self-managed nodes with labels that YAML could read as other types."""
    raw = copy.deepcopy(raw_of("p5-cb"))
    labels = {"team": "1", "example.com/preemptible": "true", "day": "2026-12-01"}
    raw["architecture"]["node_groups"]["p5"]["labels"] = labels
    return raw


@st.composite
def random_stacks(draw: st.DrawFn) -> RandomStack:
    """Return a valid stack file with changes, or one generated from the schema alone."""
    if draw(st.integers(0, 9)) == 6:
        raw = draw(configurations())
    else:
        raw = copy.deepcopy(dict(draw(st.sampled_from(bases()))))
        for _ in range(draw(st.integers(0, _MOST_CHANGES))):
            _change(draw, raw)
    config: dict[str, Any] = {"aws:region": "us-west-2", "trainyard:cluster": raw}
    if draw(st.integers(0, 19)) == 13:
        config[draw(st.sampled_from(_STRAY))] = draw(st.sampled_from(ODD))
    text = yaml.safe_dump({"config": config}, sort_keys=False, allow_unicode=True)
    doubled = draw(st.integers(0, 19)) == 13
    return RandomStack(_doubled(draw, text) if doubled else text, doubled)


def _doubled(draw: st.DrawFn, text: str) -> str:
    """Return a stack file with one line of key and value twice."""
    lines = text.splitlines()
    whole = [
        number
        for number, line in enumerate(lines)
        if line.startswith("    ") and line.endswith((" {}", " true", " false", " []"))
    ]
    whole = [number for number in whole if not lines[number].lstrip().startswith("- ")]
    number = draw(st.sampled_from(whole)) if whole else 1
    return "\n".join([*lines[:number], lines[number], *lines[number:], ""])


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """Return a configuration generated from the schema: every key has a value of its type."""
    return draw(_of_model(GivenStack, 0))


def _change(draw: st.DrawFn, raw: dict[str, Any]) -> None:
    places = [*_places(raw, GivenStack)]
    known = [place for place in places if place.annotation is not None]
    given = [place for place in places if place.is_there]
    what = draw(st.sampled_from(["fit"] * 8 + ["drop", "drop", "odd", "swap", "entry", "entry"]))
    if what == "fit" and known:
        place = draw(st.sampled_from(known))
        _put(place, draw(values(place.annotation)))
    elif what == "entry":
        maps = [place for place in given if _is_map(place.container[place.key])]
        if maps:
            _again(draw, draw(st.sampled_from(maps)))
    elif what == "odd" and places:
        _put(draw(st.sampled_from(places)), draw(st.sampled_from(ODD)))
    elif what == "drop" and given:
        place = draw(st.sampled_from(given))
        place.container.pop(place.key)
    elif what == "swap" and given:
        one, other = draw(st.sampled_from(given)), draw(st.sampled_from(given))
        first, second = (copy.deepcopy(each.container[each.key]) for each in (one, other))
        _put(one, second)
        _put(other, first)


def _put(place: Place, value: Any) -> None:
    place.container[place.key] = copy.deepcopy(value)


def _is_map(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _again(draw: st.DrawFn, place: Place) -> None:
    """Give an entry of a mapping a second name."""
    entries = place.container[place.key]
    found = entries[draw(st.sampled_from([*entries]))]
    entries[draw(st.sampled_from(_words()))] = copy.deepcopy(found)


def _places(value: Any, annotation: Any) -> Iterator[Place]:
    """Yield every key below a value, including the keys of the schema that the file omits."""
    plain, _ = unwrapped(annotation)
    model = _model_of(plain, value)
    if isinstance(value, dict):
        fields = {} if model is None else model.model_fields
        kept = get_args(plain)[1] if get_origin(plain) is dict else None
        for key in {**value, **dict.fromkeys(fields)}:
            inner = _annotation_of(fields[key]) if key in fields else kept
            yield Place(value, key, inner)
            if key in value:
                yield from _places(value[key], inner)
    elif isinstance(value, list):
        inner = get_args(plain)[0] if get_origin(plain) in (tuple, list) else None
        for index, each in enumerate(value):
            yield Place(value, index, inner)
            yield from _places(each, inner)


def _model_of(plain: Any, value: Any) -> type[BaseModel] | None:
    """Return the model of a mapping, selected by its `kind` if there are several."""
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return plain
    if get_origin(plain) not in (Union, types.UnionType):
        return None
    arms = [_model_of(unwrapped(arm)[0], value) for arm in get_args(plain)]
    models = [arm for arm in arms if arm is not None]
    kind = value.get("kind") if isinstance(value, dict) else None
    fitting = [arm for arm in models if kind in _kinds(arm)]
    return next(iter(fitting or models), None)


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    field = model.model_fields.get("kind")
    return () if field is None else get_args(field.annotation)


def _annotation_of(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def values(annotation: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Return values of a type of the schema, including those at its bounds."""
    plain, metadata = unwrapped(annotation)
    origin = get_origin(plain)
    if origin in (Union, types.UnionType):
        arms = (Annotated[arm, *metadata] if metadata else arm for arm in get_args(plain))
        return st.one_of([values(arm, depth) for arm in arms])
    if origin is Literal:
        return st.sampled_from(get_args(plain))
    if origin in (tuple, list):
        return st.lists(values(get_args(plain)[0], depth + 1), max_size=3)
    if origin is dict:
        key, value = get_args(plain)
        return st.dictionaries(values(key, depth + 1), values(value, depth + 1), max_size=2)
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return _of_model(plain, depth)
    return _scalars(annotation, plain, metadata)


def _scalars(annotation: Any, plain: Any, metadata: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if plain is bool:
        return st.booleans()
    if plain is int:
        return st.sampled_from(_numbers(metadata))
    if plain is type(None):
        return st.none()
    return st.sampled_from(_texts(annotation))


@st.composite
def _of_model(draw: st.DrawFn, model: type[BaseModel], depth: int) -> dict[str, Any]:
    # Few of the optional keys: each of them makes a refusal more likely.
    return {
        name: draw(values(_annotation_of(field), depth + 1))
        for name, field in model.model_fields.items()
        if field.is_required() or (depth < 5 and draw(st.integers(0, 5)) == 4)
    }


def _numbers(metadata: tuple[Any, ...]) -> list[int]:
    bounds = [inner for each in metadata for inner in getattr(each, "metadata", [each])]
    least = [each.ge for each in bounds if isinstance(each, Ge)]
    most = [each.le for each in bounds if isinstance(each, Le)]
    at = [edge + step for edge in (*least, *most) for step in (0, 1, -1)]
    return [*at, 1, 2, 3, 4, 8, 16, 100, 1200, 4096, 10**9]


def _texts(annotation: Any) -> list[str]:
    """Return texts that fit a type, and a few that do not."""
    return [*_fitting(annotation), "", "x" * 300, "x y"]


_FITTING: dict[str, list[str]] = {}


def _fitting(annotation: Any) -> list[str]:
    key = repr(annotation)
    if key not in _FITTING:
        takes = TypeAdapter(annotation)
        _, metadata = unwrapped(annotation)
        examples = [each.example for each in metadata if isinstance(each, Form)]
        bounds = [each for each in metadata if isinstance(each, MinLen | MaxLen)]
        pool = [*examples, *_words(), *(["x"] if bounds else [])]
        _FITTING[key] = [text for text in dict.fromkeys(pool) if _takes(takes, text)]
    return _FITTING[key]


def _takes(adapter: TypeAdapter[Any], text: str) -> bool:
    try:
        adapter.validate_python(text)
    except ValidationError:
        return False
    return True


@cache
def _words() -> tuple[str, ...]:
    """Return every text of the valid configurations, and possible replacements."""
    found = dict.fromkeys(text for raw in bases() for text in _texts_in(raw))
    instances = ("g4dn.xlarge", "p6-b200.48xlarge", "trn2.48xlarge", "c7g.large", "x9.metal")
    places = ("us-west-2a", "us-west-2d", "usw2-az1", "us-east-1a", "10.0.0.0/28", "10.1.0.0/16")
    hostile = (*COMMANDS, *TEMPLATES, *MARKUP, *PATHS, *TERMINAL)
    plain = ("spot", "on-demand", "x", "0", "None", "größe", "x" * 63)
    return (*found, *instances, *places, *plain, *hostile)


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield key
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)
