"""Keys and texts without the names that a user chose, so that stacks can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.support.changes.edits import Edit
from tests.support.stack_files import value_at

COLLECTIONS = (
    "architecture.node_groups",
    "architecture.queues",
    "architecture.queues.*.compute_resources",
    "architecture.compute_environments",
    "architecture.job_definitions",
    "reservations",
    "storage",
)
"""Mappings whose keys are names."""
STACK, NAME = "<stack>", "*"


@dataclass(frozen=True)
class Names:
    """The names in a stack file that concern a change of it."""

    raw: Mapping[str, Any]
    path: tuple[str, ...]
    """Key that is changed."""

    @cached_property
    def key(self) -> str:
        """The key with `*` for each name; an entry that the change adds keeps its name."""
        return ".".join(general for general, _ in _general(self.raw, self.path))

    def without(self, text: str) -> str:
        """Return a text with `<stack>` and `*` for the name of the stack and for others.

        These are the names in the key, and those of the only entry of a collection. With several
        entries, the name tells which one is meant.
        """
        text = _whole(self.raw["name"]).sub(STACK, text)
        for pattern in self._patterns:
            text = pattern.sub(NAME, text)
        return text

    @cached_property
    def _patterns(self) -> Sequence[re.Pattern[str]]:
        found = dict(_only_entries(self.raw))
        found |= dict(_general_parts(self.raw, self.path))
        ordered = sorted(found.items(), key=lambda each: -len(each[0]))
        return [_referred(name) if at == "reservations" else _whole(name) for name, at in ordered]


def change_of(edit: Edit, names: Names) -> str:
    """Return the description of a change without names."""
    words = edit.words.partition(" ")[0]
    return words if words == "renamed" else names.without(edit.words)


def _general(raw: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield each part of a key, as `*` if it is a name, with the key of what it is in."""
    place = ""
    for index, part in enumerate(path):
        exists = value_at(raw, path[: index + 1]) is not None
        general = NAME if place in COLLECTIONS and exists else part
        yield general, place
        place = f"{place}.{general}" if place else general


def _general_parts(raw: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for part, (general, place) in zip(path, _general(raw, path), strict=True):
        if general == NAME:
            yield part, place


def _only_entries(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for collection in COLLECTIONS:
        entries = value_at(raw, collection.split("."))
        if entries and len(entries) == 1:
            yield next(iter(entries)), collection


def _whole(name: str) -> re.Pattern[str]:
    # The `p5` of `p5.48xlarge` is not the name of a pool.
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w|\.\d)")


def _referred(name: str) -> re.Pattern[str]:
    """Match the name of a reservation, which no resource has, only where it must be one."""
    plain = re.escape(name)
    return re.compile(rf"(?<=reservations\.){plain}(?!\w)|(?<=`){plain}(?=`)")
