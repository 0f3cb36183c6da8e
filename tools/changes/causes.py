"""Find the stack file keys that cause an update, by comparison with the deployed file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.config.problems import show
from tools.workspace.stack_entries import entries, entries_of


@dataclass(frozen=True, slots=True)
class ChangedKey:
    """A stack file key whose value differs from the deployed value."""

    path: tuple[str, ...]
    """Path below `trainyard:cluster`."""
    before: Any
    """None if the key is new."""
    after: Any
    """None if the key was removed."""

    @property
    def line(self) -> str:
        """The change as text."""
        key = ".".join(self.path)
        if self.after is None:
            return f"{key}: removed"
        if self.before is None:
            return f"{key}: {show(self.after)} (new)"
        return f"{key}: {show(self.before)} -> {show(self.after)}"


def changed_keys(deployed: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[ChangedKey]:
    """Return the keys whose values differ, as deep as both files have them, by path."""
    return sorted(_changes(deployed, wanted, ()), key=lambda change: change.path)


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[ChangedKey]:
    for key in {*before, *after}:
        one, other = before.get(key), after.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            yield from _changes(one, other, (*path, str(key)))
        elif one != other:
            yield ChangedKey((*path, str(key)), one, other)


def causes_of(
    name: str, changes: list[ChangedKey], deployed: Mapping[str, Any]
) -> list[ChangedKey]:
    """Return the changed keys that may cause a change of a resource with this name.

    These are the keys below the resource's entry or, if there are none, those outside all entries.
    """
    places, everything = entries_of(name, deployed), list(entries(deployed))
    near = [each for each in changes if any(_is_below(each.path, path) for path in places)]
    far = [each for each in changes if not any(_is_below(each.path, path) for path in everything)]
    return near or far or changes


def _is_below(path: tuple[str, ...], place: tuple[str, ...]) -> bool:
    return path[: len(place)] == place
