"""The texts of the display: lines that remain, the region at the end, and the planned changes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from trainyard.changes.steps import Step
from trainyard.progress.durations import duration
from trainyard.progress.operation import Ended, Operation, Running, short_type

SHOWN_OPERATIONS = 8
"""Number of running operations in the region; it must fit into a small terminal."""
TOLD_SECONDS = 30
"""Typical time from which a log without a terminal also says that an operation has begun."""
LISTED_STEPS = 12
"""Number of steps of one kind that are listed one by one; more are grouped by type."""
_COMPONENTS = ("trainyard:", "eks:index:", "pulumi:")
"""Types of the stack file's components, which exist only in the state."""
_CHANGES = ("create", "update", "replace", "delete")


def ended_line(ended: Ended) -> str:
    """Return the line for an operation that has ended; empty if it is not shown.

    An unchanged resource of a refresh and a component are not shown.
    """
    if not ended.what.is_object or ended.said == "read":
        return ""
    said = f"failed {ended.what.doing}" if ended.failed else ended.said
    took = f" ({duration(ended.seconds)})" if round(ended.seconds) else ""
    return f"{said} {ended.what.type} {ended.what.name}{took}"


def begun_line(begun: Running) -> str:
    """Return the line for a long operation that has begun; empty if it is typically short."""
    if not begun.is_object or begun.typical_seconds < TOLD_SECONDS:
        return ""
    usual = duration(begun.typical_seconds)
    return f"{begun.doing} {begun.type} {begun.name} (typically {usual})"


def region(operation: Operation, title: str, *, now: float, began: float, width: int) -> list[str]:
    """Return the lines at the end of a terminal: a summary, and what runs now."""
    if operation.is_preview:
        seen = f", {operation.seen} resources so far" if operation.seen else ""
        return [_cut(f"{title}: preview{seen}", width)]
    running = [each for each in operation.running.values() if each.is_object]
    running.sort(key=lambda each: each.began)
    parts = [f"{title}: {operation.done} of {operation.total} done", duration(now - began)]
    left = operation.seconds_left(now)
    if left >= 1:
        parts.append(f"at least {_minutes(left)} left")
    lines = [_cut(", ".join(parts), width)]
    lines += [_running_line(each, now=now, width=width) for each in running[:SHOWN_OPERATIONS]]
    if len(running) > SHOWN_OPERATIONS:
        lines.append(f"  and {len(running) - SHOWN_OPERATIONS} more")
    return lines


def _minutes(seconds: float) -> str:
    """Return an estimate without a precision that it does not have."""
    return f"{round(seconds / 60)} min" if seconds >= 90 else duration(seconds)


def _running_line(running: Running, *, now: float, width: int) -> str:
    took = duration(now - running.began)
    if running.typical_seconds >= TOLD_SECONDS:
        took += f", typically {duration(running.typical_seconds)}"
    left = width - len(took) - 3
    text = f"  {running.doing} {running.type} {running.name}"
    if len(text) > left:
        # The name says more than the package and the API group of the type.
        text = f"  {running.doing} {running.type.rpartition(':')[2]} {running.name}"
    return f"{_cut(text, left)} ({took})"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 3)]}..."


def change_list(steps: Sequence[Step], *, width: int) -> list[str]:
    """Return the planned changes, and how many resources stay unchanged."""
    changed = [each for each in steps if each.operation != "same" and _is_object(each)]
    lines = [
        line
        for operation in _CHANGES
        for line in _changes_of(
            operation, [step for step in changed if step.operation == operation], width=width
        )
    ]
    same = sum(each.operation == "same" and _is_object(each) for each in steps)
    return [*lines, _totals(changed, same)]


def _changes_of(operation: str, steps: Sequence[Step], *, width: int) -> Iterable[str]:
    if len(steps) <= LISTED_STEPS:
        for step in steps:
            why = ", ".join(step.reasons or step.changed_properties)
            line = f"  {operation} {short_type(step.type)} {step.name}"
            yield from _wrapped(f"{line} ({why})" if why and operation != "create" else line, width)
        return
    by_type = sorted(steps, key=lambda step: short_type(step.type))
    for type_, group in groupby(by_type, key=lambda step: short_type(step.type)):
        names = [step.name for step in group]
        count = f" ({len(names)})" if len(names) > 1 else ""
        yield from _wrapped(f"  {operation} {type_}{count}: {', '.join(names)}", width)


def _wrapped(line: str, width: int) -> list[str]:
    return textwrap.wrap(
        line, width, subsequent_indent=" " * 6, break_on_hyphens=False, break_long_words=False
    )


def _totals(changed: Sequence[Step], same: int) -> str:
    counts = {kind: sum(step.operation == kind for step in changed) for kind in _CHANGES}
    parts = [f"{count} to {kind}" for kind, count in counts.items() if count]
    return f"{', '.join(parts) or 'no changes'}; {same} unchanged"


def _is_object(step: Step) -> bool:
    return not step.type.startswith(_COMPONENTS)
