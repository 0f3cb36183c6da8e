"""The event log of the engine: what it does and what it shows as errors, one JSON object a line."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.workspace.engine_events import engine_errors, resource_changes
from tools.workspace.engine_process import EngineResult, PulumiCommand

LOG_FLAG_VARIABLE = "PULUMI_DEBUG_COMMANDS"
"""Without it the engine does not know the flag of its event log.
https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/cmd/pulumi/operations/up.go"""


@dataclass(frozen=True, slots=True)
class EventLog:
    """Where an engine command is told to write its events."""

    directory: Path
    """Only this user reads it, and it is gone afterwards."""

    @property
    def path(self) -> Path:
        """The file, which the engine makes."""
        return self.directory / "events.json"

    @property
    def arguments(self) -> list[str]:
        """What the engine is told besides."""
        return ["--event-log", str(self.path)]

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that the engine needs for it."""
        return {LOG_FLAG_VARIABLE: "true"}

    def told(self, command: PulumiCommand) -> PulumiCommand:
        """Return the command with these variables in its environment."""
        return command.with_variables(self.environment)

    def text(self) -> str:
        """Return what the engine has written; empty where it never began."""
        if not self.path.exists():
            return ""
        return self.path.read_text(encoding="utf-8", errors="replace")


@contextmanager
def event_log() -> Iterator[EventLog]:
    """Give a place for the events of one engine command."""
    with tempfile.TemporaryDirectory(prefix="trainyard-events-") as directory:
        yield EventLog(Path(directory))


def run_listening(command: PulumiCommand, arguments: Sequence[str]) -> EngineResult:
    """Return how an engine command ended, with its changes and, where it failed, its errors."""
    with event_log() as log:
        result = log.told(command).run([*arguments, *log.arguments])
        return heard(result, log.text())


def heard(result: EngineResult, log: str) -> EngineResult:
    """Return a result with what the event log says of it."""
    errors = engine_errors(log) if result.exit_code else ()
    return dataclasses.replace(result, changes=resource_changes(log), errors=errors)
