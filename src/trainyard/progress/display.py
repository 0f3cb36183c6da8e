"""Shows an engine operation from its event log: a live region at a terminal, otherwise lines."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from trainyard.changes.steps import steps_of_events
from trainyard.components.config.pulumi_command import as_typed
from trainyard.components.plain_text import fill, legible
from trainyard.progress import rendering
from trainyard.progress.messages import Messages
from trainyard.progress.operation import Operation, Typical

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
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        # The engine's messages can contain what only this user may read.
        descriptor = os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
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
            yield rendering.ended_line(ended)
        if not self._console.is_terminal:
            new = set(self.operation.running) - before
            yield from (rendering.begun_line(self.operation.running[key]) for key in new)
        yield self._messages.read(event)
        if self._lists_changes and event.get("summaryEvent", {}).get("isPreview"):
            width = self._console.width if self._console.is_terminal else LOG_WIDTH
            yield from rendering.change_list(steps_of_events(self._preview), width=width)

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
            first, *others = rendering.region(
                self.operation,
                self._title,
                now=time.time(),
                began=self._began,
                width=self._console.width - 2,
            )
        spinner.update(text=Text(legible(first)))
        return Group(spinner, *(Text(legible(line), no_wrap=True) for line in others))
