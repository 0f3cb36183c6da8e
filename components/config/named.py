"""The AWS objects that a stack file names, found by the types of its fields.

A field type says in its `Form` which kind of object it names, so that a new field of such a type is
looked up without further code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, cast, get_args

from pydantic import BaseModel

from trainyard.components.config.base import Form


@dataclass(frozen=True, slots=True)
class Named:
    """A name of an AWS object in a stack file."""

    kind: str
    """`Form.names` of its type."""
    name: str
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    owner: BaseModel | None = None
    """The model that has the field; None for a name that the program derives."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in a stack file."""

    value: str
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    owner: BaseModel
    """The model that has the field."""
    field: str
    """Name of the field."""


def names_in(config: BaseModel) -> Iterator[Named]:
    """Yield every name in a configuration, in the order of its fields."""
    for text in texts_in(config):
        for kind in named_kinds(type(text.owner), text.field):
            yield Named(kind, text.value, text.key, text.owner)


def texts_in(config: BaseModel) -> Iterator[Text]:
    """Yield every text in a configuration, in the order of its fields."""
    yield from _in_model(config, "")


@cache
def named_kinds(model: type[BaseModel], field: str) -> frozenset[str]:
    """Return the kinds of objects that a field of a model can name; at most one."""
    info = model.model_fields[field]
    forms = _forms(info.annotation, tuple(info.metadata))
    return frozenset(form.names for form in forms if form.names)


def _in_model(model: BaseModel, path: str) -> Iterator[Text]:
    for field in type(model).model_fields:
        key = f"{path}.{field}" if path else field
        yield from _in_value(getattr(model, field), key, model, field)


def _in_value(value: object, key: str, owner: BaseModel, field: str) -> Iterator[Text]:
    if isinstance(value, BaseModel):
        yield from _in_model(value, key)
    elif isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, object]", value).items():
            yield from _in_value(inner, f"{key}.{name}", owner, field)
    elif isinstance(value, tuple):
        for index, inner in enumerate(cast("tuple[object, ...]", value)):
            yield from _in_value(inner, f"{key}[{index}]", owner, field)
    elif isinstance(value, str):
        yield Text(value, key, owner, field)


def _forms(annotation: Any, metadata: tuple[Any, ...]) -> Iterator[Form]:
    yield from (each for each in metadata if isinstance(each, Form))
    for inner in get_args(annotation):
        yield from _forms(inner, getattr(inner, "__metadata__", ()))
