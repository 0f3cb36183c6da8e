"""Shows an engine operation from its event log: a live region at a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import textwrap
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from trainyard.changes.steps import PlannedStep, steps_of_events
from trainyard.components.plain_text import fill, legible
from trainyard.components.typed_command import as_typed
from trainyard.engine.engine_events import without_color
from trainyard.progress.durations import duration
from trainyard.progress.operation import Ended, Operation, Running, Typical, short_type
from trainyard.stack_files.files import private_log
from trainyard.workspace.urns import name_of, type_of

_SHOWN = frozenset({"error", "warning", "info", "info#err"})
"""Severities of messages for the user; `debug` is not.
https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/diag/sink.go"""


class Messages:
    """Texts for the messages in an event log. A preview and its update report the same ones."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def read(self, event: Mapping[str, Any]) -> str:
        """Return the text of a message; empty if the event has none, or it was returned before."""
        text = _text(event).rstrip()
        if not text.strip() or text in self._told:
            return ""
        self._told.add(text)
        return text


def _text(event: Mapping[str, Any]) -> str:
    if "diagnosticEvent" in event:
        return _diagnostic(event["diagnosticEvent"])
    if "policyEvent" in event:
        return _violation(event["policyEvent"])
    if "summaryEvent" in event:
        return _policy_packs(event["summaryEvent"])
    return without_color(event.get("stdoutEvent", {}).get("message") or "")


def _policy_packs(summary: Mapping[str, Any]) -> str:
    """Return which policy packs have run.

    https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/events.go, `SummaryEvent`;
    the key of a local pack also has its directory.
    """
    packs: Mapping[str, str] = summary.get("PolicyPacks") or {}
    names = [f"{key.partition('|')[0]}@{version}" for key, version in sorted(packs.items())]
    return f"checked by the policy pack {', '.join(names)}" if names else ""


def _diagnostic(event: Mapping[str, Any]) -> str:
    message = without_color(event["message"]).strip("\n")
    # An ephemeral message is a status that the next one replaces.
    if event["severity"] not in _SHOWN or event.get("ephemeral") or not message.strip():
        return ""
    prefix = without_color(event.get("prefix") or "")
    return f"{prefix}{_of(event.get('urn') or '')}{message}"


def _violation(event: Mapping[str, Any]) -> str:
    urn = event.get("resourceUrn") or ""
    place = f" ({short_type(type_of(urn))} {name_of(urn)})" if type_of(urn) else ""
    heading = f"[{event['enforcementLevel']}] {event['policyName']}{place}"
    return f"{heading}\n{textwrap.indent(without_color(event['message']).strip(), '  ')}"


def _of(urn: str) -> str:
    return f"{short_type(type_of(urn))} {name_of(urn)}: " if type_of(urn) else ""


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


def change_list(steps: Sequence[PlannedStep], *, width: int) -> list[str]:
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


def _changes_of(operation: str, steps: Sequence[PlannedStep], *, width: int) -> Iterable[str]:
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


def _totals(changed: Sequence[PlannedStep], same: int) -> str:
    counts = {kind: sum(step.operation == kind for step in changed) for kind in _CHANGES}
    parts = [f"{count} to {kind}" for kind, count in counts.items() if count]
    return f"{', '.join(parts) or 'no changes'}; {same} unchanged"


def _is_object(step: PlannedStep) -> bool:
    return not step.type.startswith(_COMPONENTS)


LOG_WIDTH = 120
"""Width of the change list if there is no terminal."""
_DEBUG = '"severity":"debug"'


class Display:
    """Follows one engine operation after the other on standard output."""

    def __init__(self, title: str, log_path: Path, typical: Typical) -> None:
        self.log_path = log_path
        """The file with the engine's full output."""
        self._title, self._typical = title, typical
        self._messages = Messages()
        self._lock = threading.Lock()
        self.operation = Operation(typical)
        """What is shown now."""
        self._start(lists_changes=False)
        self._console = Console(highlight=False, markup=False, emoji=False)

    def _start(self, *, lists_changes: bool) -> None:
        # An operation without a preview of its own carries out the one that was confirmed.
        if self.operation.is_preview:
            self.operation.seen = 0
        else:
            self.operation = Operation(self._typical)
        self._began = time.time()
        self._preview: list[str] = []
        self._lists_changes = lists_changes

    @contextmanager
    def following(self, *, lists_changes: bool) -> Iterator[int]:
        """Show an operation while the block runs; give the file descriptor for its output.

        Args:
            lists_changes: Whether to list the planned changes when the preview is complete.
        """
        self._start(lists_changes=lists_changes)
        # The engine's messages can contain what only this user may read.
        descriptor = private_log(self.log_path)
        try:
            with self._live():
                yield descriptor
        finally:
            os.close(descriptor)

    def see(self, line: str) -> None:
        """Follow a line of the event log."""
        # Most events are debug messages, some of them long.
        if _DEBUG in line[-120:]:
            return
        try:
            event = json.loads(line)
        except ValueError:  # the last line of a killed engine
            return
        with self._lock:
            lines = [*self._lines(event, line)]
        for text in lines:
            self._write(text)

    def _lines(self, event: Mapping[str, Any], line: str) -> Iterator[str]:
        if "resourcePreEvent" in event and event["resourcePreEvent"].get("planning"):
            self._preview.append(line)
        before = set(self.operation.running)
        ended = self.operation.read(event)
        if ended is not None:
            yield ended_line(ended)
        if not self._console.is_terminal:
            new = set(self.operation.running) - before
            yield from (begun_line(self.operation.running[key]) for key in new)
        yield self._messages.read(event)
        if self._lists_changes and event.get("summaryEvent", {}).get("isPreview"):
            width = self._console.width if self._console.is_terminal else LOG_WIDTH
            yield from change_list(steps_of_events(self._preview), width=width)

    def _write(self, text: str) -> None:
        if not text:
            return
        shown = legible(as_typed(text))
        if self._console.is_terminal:
            lines = shown.split("\n")
            shown = "\n".join(fill(line, self._console.width, "  ") for line in lines)
        # The reader of standard output may be gone; that must not stop the engine.
        with contextlib.suppress(OSError, ValueError):
            self._console.print(Text(shown), soft_wrap=True)
            sys.stdout.flush()

    @contextmanager
    def _live(self) -> Iterator[None]:
        if not self._console.is_terminal:
            yield
            return
        spinner = Spinner("line" if self._console.options.ascii_only else "dots")
        with Live(
            console=self._console,
            get_renderable=lambda: self._region(spinner),
            transient=True,
            refresh_per_second=8,
        ):
            yield

    def _region(self, spinner: Spinner) -> RenderableType:
        with self._lock:
            first, *others = region(
                self.operation,
                self._title,
                now=time.time(),
                began=self._began,
                width=self._console.width - 2,
            )
        spinner.update(text=Text(legible(first)))
        return Group(spinner, *(Text(legible(line), no_wrap=True) for line in others))
