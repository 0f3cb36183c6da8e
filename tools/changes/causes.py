"""Which keys of the stack file an update comes from: what it says now against what was deployed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.config.problems import show
from tools.workspace.stack_entries import entries, entries_of


@dataclass(frozen=True, slots=True)
class ChangedKey:
    """One key of a stack file that says something else than what was deployed."""

    path: tuple[str, ...]
    """Below `trainyard:cluster`."""
    before: Any
    """None where it was not there."""
    after: Any
    """None where it is not there any more."""

    @property
    def line(self) -> str:
        """The change for people."""
        key = ".".join(self.path)
        if self.after is None:
            return f"{key} is gone"
        if self.before is None:
            return f"{key}: {show(self.after)}, which is new"
        return f"{key}: {show(self.before)} -> {show(self.after)}"


def changed_keys(deployed: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[ChangedKey]:
    """Return the keys whose values differ, the deepest that both files have, by path."""
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
    """Return the changes that can be why a resource of this name is changed.

    Those below its own entry are meant; where there is none, those below no entry at all.
    """
    places, everything = entries_of(name, deployed), list(entries(deployed))
    near = [each for each in changes if any(_is_below(each.path, path) for path in places)]
    far = [each for each in changes if not any(_is_below(each.path, path) for path in everything)]
    return near or far or changes


def _is_below(path: tuple[str, ...], place: tuple[str, ...]) -> bool:
    return path[: len(place)] == place
