"""Other valid values for a field of the configuration, from its type, bounds and examples."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tests.support.text_fields import unwrapped
from trainyard.components.config.base import Form

MOST = 2
"""Values that are tried for one field."""
REMOVED = object()
"""Represents a key that is removed from the file."""


def others(field: FieldInfo, value: Any) -> list[Any]:
    """Return at most `MOST` valid values of the field that differ from the present one."""
    annotation: Any = field.annotation
    if field.metadata:
        annotation = Annotated[annotation, *field.metadata]
    found: list[Any] = []
    for other in _of_type(annotation, value):
        if other != value and other not in found:
            found.append(other)
    return found[:MOST]


def _of_type(annotation: Any, value: Any) -> Iterator[Any]:
    plain, metadata = unwrapped(annotation)
    origin = get_origin(plain)
    if origin in (Union, types.UnionType):
        yield from _of_union(plain, metadata, value)
    elif origin is Literal:
        yield from get_args(plain)
    elif plain is bool:
        yield not value
    elif plain is int:
        yield from _numbers(metadata, value)
    elif origin is tuple:
        yield from _tuples(get_args(plain)[0], value)
    elif origin is dict and not _is_model(get_args(plain)[1]):
        yield from _mappings(get_args(plain), value)
    else:
        yield from (form.example for form in metadata if isinstance(form, Form))


def _of_union(union: Any, metadata: tuple[Any, ...], value: Any) -> Iterator[Any]:
    arms = [each for each in get_args(union) if each is not type(None)]
    for arm in arms:
        if not _is_model(arm):
            yield from _of_type(Annotated[arm, *metadata] if metadata else arm, value)
    if value is not None and len(arms) < len(get_args(union)):
        yield REMOVED


def _flat(metadata: tuple[Any, ...]) -> Iterator[Any]:
    for each in metadata:
        # `Field(ge=1)` has its bounds in nested metadata.
        yield from each.metadata if isinstance(each, FieldInfo) else (each,)


def _numbers(metadata: tuple[Any, ...], value: int | None) -> Iterator[int]:
    bounds = list(_flat(metadata))
    least = max((each.ge for each in bounds if isinstance(each, Ge)), default=0)
    most = min((each.le for each in bounds if isinstance(each, Le)), default=10**6)
    start = least if value is None else value
    step = max(1, start // 2) if start >= 20 else 1
    # Above, or below at the maximum. Keys that treat less and more differently are in `special`.
    yield next(other for other in (start + step, start - step) if least <= other <= most)


def _tuples(item: Any, value: tuple[Any, ...] | None) -> Iterator[list[Any]]:
    present = list(value or ())
    for other in _of_type(item, None):
        if other not in present:
            yield [*present, other]
            break
    if present:
        yield present[:-1]


def _mappings(arguments: tuple[Any, Any], value: Mapping[Any, Any] | None) -> Iterator[Any]:
    present = dict(value or {})
    key = next(iter(_of_type(arguments[0], None)), "team")
    yield {**present, key: next(iter(_of_type(arguments[1], None)), "research")}
    if present:
        yield dict(list(present.items())[:-1])


def _is_model(annotation: Any) -> bool:
    plain, _ = unwrapped(annotation)
    if get_origin(plain) in (Union, types.UnionType):
        return any(map(_is_model, get_args(plain)))
    return isinstance(plain, type) and issubclass(plain, BaseModel)
