"""Every change of one key of a stack file, from the schema."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from tests.support.changes.choices import REMOVED, others
from tests.support.changes.entries import ENTRIES
from tests.support.changes.special import SPECIAL
from tests.support.stack_files import value_at, with_value
from trainyard.components.config.node_pool import BlockNodes
from trainyard.components.config.problems import show

UNCHANGED = frozenset({"kind"})
"""Discriminator fields: another value means a model with other fields."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a configuration."""

    path: tuple[str, ...]
    """Key below `trainyard:cluster`."""
    words: str
    """A description of the change, without the key."""
    raw: Mapping[str, Any]
    """The complete configuration with the change."""

    @property
    def line(self) -> str:
        """Key and change."""
        return f"{'.'.join(self.path)}: {self.words}"


def edits(raw: Mapping[str, Any], config: BaseModel) -> list[Edit]:
    """Return every change of one key, by key.

    Args:
        raw: The configuration as written in its file.
        config: The parsed configuration, with the default and the type of every field.
    """
    return sorted(_of_model(raw, config, ()), key=lambda edit: edit.path)


def _of_model(raw: Mapping[str, Any], model: BaseModel, path: tuple[str, ...]) -> Iterator[Edit]:
    for name, field in type(model).model_fields.items():
        value, place = getattr(model, name, None), (*path, name)
        if name in UNCHANGED or name == "network_stack":
            continue
        if isinstance(value, BaseModel):
            yield from _of_model(raw, value, place)
        elif ".".join(place) in ENTRIES or _holds_models(value):
            yield from _of_entries(raw, value, place)
        else:
            choices = _special(raw, place)
            found = others(field, value) if choices is None else choices
            for other in found:
                # A missing key cannot be removed.
                gone = other is REMOVED and value_at(raw, place) is None
                if other != plain(value) and not gone:
                    yield _changed(raw, place, value, other)


def _holds_models(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(v, BaseModel) for v in value.values())


def _special(raw: Mapping[str, Any], place: tuple[str, ...]) -> Sequence[Any] | None:
    key = ".".join(place)
    for pattern, choose in SPECIAL.items():
        if fnmatch.fnmatchcase(key, pattern):
            return choose(raw, place)
    return None


def _of_entries(
    raw: Mapping[str, Any], entries: Mapping[str, Any], place: tuple[str, ...]
) -> Iterator[Edit]:
    for name, entry in entries.items():
        if isinstance(entry, BlockNodes) and entry.pool_named(name) != name:
            continue  # nodes of `further_blocks`
        yield from _of_model(raw, entry, (*place, name))
        yield _moved(raw, (*place, name), f"{name}-renamed")
        yield _edit((*place, name), "removed", _with(raw, (*place, name), REMOVED))
    for name, entry in ENTRIES.get(".".join(place), {}).items():
        key = (*place, name)
        made = entry(raw) if callable(entry) else entry
        if made is not None:
            yield _edit(key, "added", _with(raw, key, made))


def _moved(raw: Mapping[str, Any], place: tuple[str, ...], name: str) -> Edit:
    """Return the change that renames an entry and all references to it."""
    old = place[-1]
    moved = _with(_with(raw, place, REMOVED), (*place[:-1], name), value_at(raw, place))
    if place[0] == "reservations":
        moved = _renamed_values(moved, "purchase_option", old, name)
    if place[-2] == "compute_environments":
        moved = _renamed_values(moved, "compute_environment", old, name)
    return _edit(place, f"renamed {name}", moved)


def _renamed_values(value: Any, key: str, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {
            k: new if k == key and v == old else _renamed_values(v, key, old, new)
            for k, v in value.items()
        }
    return value


def _changed(raw: Mapping[str, Any], place: tuple[str, ...], value: Any, other: Any) -> Edit:
    before = "not set" if value is None else show(plain(value))
    after = "not set" if other is REMOVED else show(other)
    return _edit(place, f"{before} -> {after}", _with(raw, place, other))


def _edit(place: tuple[str, ...], words: str, raw: Mapping[str, Any]) -> Edit:
    return Edit(place, words, raw)


def plain(value: Any) -> Any:
    """Return a value of a model as YAML represents it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, tuple | list | frozenset):
        return [plain(each) for each in value]
    return value


def _with(raw: Mapping[str, Any], place: tuple[str, ...], value: Any) -> dict[str, Any]:
    return with_value(raw, place, value, removed=REMOVED)
