"""The change matrix of one stack as readable text: goldens are read in review."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.support.changes.rows import Row
from tools.changes.steps import Operation, Step

MOST_NAMED = 6
"""Maximum number of resources with the same change that are named; further ones are counted."""
LONGEST_REASON = 110
_ORDER: tuple[Operation, ...] = ("replace", "delete", "create", "update")


def report(name: str, rows: Iterable[Row]) -> str:
    """Return the matrix of one stack."""
    head = f"# What an update of {name} does when one key of its stack file is changed.\n"
    return head + "".join(f"\n{_text(row)}\n" for row in rows)


def _text(row: Row) -> str:
    return "\n".join([row.edit.line, *(f"  {line}" for line in lines_of(row))])


def lines_of(row: Row) -> list[str]:
    """Return the effects of a change, the most severe first."""
    if row.refused:
        return [f"refused  {_short(each)}" for each in row.refused]
    if not row.steps:
        return ["nothing"]
    found = [line for operation in _ORDER for line in _steps(row, operation)]
    found += [f"refused  protected: {name}" for name in row.protected]
    found += [f"asks for --replace {loss.name}: {loss.kind}" for loss in row.losses]
    found += [
        f"refused  {each.comes.name} beside {each.goes.name}: no room in {each.capacity.words}"
        for each in row.collisions
    ]
    found += [f"refused  {step.name}: nodes in a block" for step in row.running_blocks]
    found += [f"refused  {step.name}: what is in it stays" for step in row.moved_networks]
    return found


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def _steps(row: Row, operation: Operation) -> Iterator[str]:
    groups: dict[str, list[Step]] = {}
    for step in row.steps:
        if step.operation == operation:
            groups.setdefault(_why(row, step), []).append(step)
    for why, steps in sorted(groups.items()):
        yield f"{operation:8} {_named(steps)}{why}"


def _why(row: Row, step: Step) -> str:
    if step.operation == "replace":
        first = ", deleted first" if step.urn in row.deletes_first else ""
        return f" (because of {', '.join(step.reasons)}{first})"
    changed = ", ".join(step.changed_properties)
    return f" ({changed})" if changed else ""


def _named(steps: list[Step]) -> str:
    names = sorted(step.name for step in steps)
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{len(names)} resources from {names[0]} to {names[-1]}"
