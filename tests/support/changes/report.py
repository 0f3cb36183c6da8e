"""Effects of a change as readable text: the golden is read in review."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.support.changes.rows import Row
from trainyard.changes.steps import Operation, PlannedStep

MOST_NAMED = 6
"""Maximum number of resources with the same change that are named; further ones are counted."""
LONGEST_REASON = 110
_ORDER: tuple[Operation, ...] = ("replace", "delete", "create", "update")


def lines_of(row: Row, plain: Callable[[str], str]) -> list[str]:
    """Return the effects of a change, the most severe first.

    Args:
        row: The change.
        plain: Replaces names in a text.
    """
    if row.refused:
        return [f"refused  {_short(plain(each))}" for each in row.refused]
    if not row.steps:
        return ["nothing"]
    found = [line for operation in _ORDER for line in _steps(row, operation, plain)]
    found += [plain(line) for line in _refusals(row)]
    return found


def _refusals(row: Row) -> Iterator[str]:
    yield from (f"refused  protected: {name}" for name in row.protected)
    yield from (f"asks for --replace {loss.name}: {loss.kind}" for loss in row.losses)
    for each in row.collisions:
        room = f"no room in {each.capacity.words}"
        yield f"refused  {each.comes.name} beside {each.goes.name}: {room}"
    yield from (f"refused  {step.name}: nodes in a block" for step in row.running_blocks)
    yield from (f"refused  {step.name}: what is in it stays" for step in row.moved_networks)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _steps(row: Row, operation: Operation, plain: Callable[[str], str]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for step in row.steps:
        if step.operation == operation:
            groups.setdefault(_why(row, step), []).append(plain(step.name))
    for why, names in sorted(groups.items()):
        yield f"{operation:8} {_named(sorted(names))}{why}"


def _why(row: Row, step: PlannedStep) -> str:
    if step.operation == "replace":
        first = ", deleted first" if step.urn in row.deletes_first else ""
        return f" (because of {', '.join(step.reasons)}{first})"
    changed = ", ".join(step.changed_properties)
    return f" ({changed})" if changed else ""


def _named(names: list[str]) -> str:
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{len(names)} resources from {names[0]} to {names[-1]}"
