"""Every leaf field of stack files, with its type and its link to AWS APIs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

import trainyard.components.config
from tools.catalog.constraints import Link, links
from trainyard.components.config.base import EffectiveWith
from trainyard.components.config.given_stack import GivenStack


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field, an entry of its list, or a key or a value of its mapping."""

    name: str
    """Key in `tools/catalog/parameters.yaml`."""
    annotation: Any
    """The type with its metadata."""

    @property
    def link(self) -> Link | None:
        """The link of the field, or that of its type."""
        return links().get(self.name) or links().get(self.type_name)

    @property
    def type_name(self) -> str:
        """The name of the type in `trainyard.components.config`; empty if it has none."""
        return type_names().get(identity(self.annotation), "")

    @property
    def is_sized(self) -> bool:
        """Whether it represents the number of entries."""
        return get_origin(bare(self.annotation)) in (tuple, list, dict)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a literal type; empty for every other type."""
        inner = bare(self.annotation)
        return get_args(inner) if get_origin(inner) is Literal else ()

    @property
    def adapter(self) -> TypeAdapter[Any]:
        """The validator of the field, as strict as that of its model."""
        return adapter(self)


@cache
def adapter(leaf: Leaf) -> TypeAdapter[Any]:
    return TypeAdapter(leaf.annotation)


def bare(annotation: Any) -> Any:
    """Return a type without its metadata."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


@cache
def type_names() -> dict[str, str]:
    """Return the names of the field types that modules of `trainyard.components.config` define."""
    found: dict[str, str] = {}
    for module in pkgutil.iter_modules(
        trainyard.components.config.__path__, "trainyard.components.config."
    ):
        names = vars(importlib.import_module(module.name))
        found |= {identity(value): name for name, value in names.items() if _is_type(value)}
    return found


def identity(annotation: Any) -> str:
    """Return a text that is equal for annotations that accept the same values."""
    return repr((bare(annotation), list(metadata(annotation))))


def _is_type(value: Any) -> bool:
    return get_origin(value) is Annotated and not any(models(value))


@cache
def leaves() -> tuple[Leaf, ...]:
    """Return every leaf once, by the model that declares it."""
    found: dict[str, Leaf] = {}
    for model in _reached(GivenStack, []):
        for name, field in model.model_fields.items():
            whole = field.annotation
            # When a field has an effect is no part of its type.
            metadata = [each for each in field.metadata if not isinstance(each, EffectiveWith)]
            if metadata:
                whole = Annotated[whole, *metadata]
            owner = next(base for base in model.__mro__ if name in inspect.get_annotations(base))
            if name != "kind":
                found |= {leaf.name: leaf for leaf in _leaves(f"{owner.__name__}.{name}", whole)}
    return tuple(found.values())


def _reached(model: type[BaseModel], seen: list[type[BaseModel]]) -> list[type[BaseModel]]:
    if model not in seen:
        seen.append(model)
        for field in model.model_fields.values():
            for inner in models(field.annotation):
                _reached(inner, seen)
    return seen


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is not Literal:
        for argument in get_args(annotation):
            yield from models(argument)


def _leaves(name: str, annotation: Any) -> Iterator[Leaf]:
    inner = bare(annotation)
    if get_origin(inner) in (Union, UnionType):
        for member in get_args(inner):
            yield from _leaves(name, member)
    elif get_origin(inner) in (tuple, list):
        yield Leaf(name, annotation)
        yield from _leaves(f"{name}[]", get_args(inner)[0])
    elif get_origin(inner) is dict:
        yield Leaf(name, annotation)
        for part, argument in zip(("{key}", "{value}"), get_args(inner), strict=True):
            yield from _leaves(f"{name}{part}", argument)
    elif inner not in (bool, type(None)) and not any(models(inner)):
        yield Leaf(name, annotation)


def metadata(annotation: Any) -> Iterator[Any]:
    """Yield the metadata of a type, without those of its entries."""
    while get_origin(annotation) is Annotated:
        annotation, *items = get_args(annotation)
        for item in items:
            yield from item.metadata if isinstance(item, FieldInfo) else (item,)
