"""The engine's event log: operations and errors, one JSON object per line."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trainyard.engine.engine_events import (
    engine_errors,
    is_canceled,
    operations_begun,
    preview_succeeded,
    resource_changes,
)
from trainyard.engine.engine_process import EngineResult, PulumiCommand
from trainyard.stack_files.files import file_text

LOG_FLAG_VARIABLE = "PULUMI_DEBUG_COMMANDS"
"""Enables the flag for the event log.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/cmd/pulumi/operations/up.go"""


@dataclass(frozen=True, slots=True)
class EventLog:
    """The file to which an engine command writes its events."""

    directory: Path
    """Readable only by this user, and deleted afterwards."""

    @property
    def path(self) -> Path:
        """The file, which the engine creates."""
        return self.directory / "events.json"

    @property
    def arguments(self) -> list[str]:
        """Additional arguments for the engine."""
        return ["--event-log", str(self.path)]

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that enable the event log."""
        return {LOG_FLAG_VARIABLE: "true"}

    def told(self, command: PulumiCommand) -> PulumiCommand:
        """Return the command with these variables in its environment."""
        return command.with_variables(self.environment)

    def text(self) -> str:
        """Return what the engine has written; empty if it never started."""
        if not self.path.exists():
            return ""
        return file_text(self.path, errors="replace")


@contextmanager
def event_log() -> Iterator[EventLog]:
    """Yield a temporary event log for one engine command."""
    with tempfile.TemporaryDirectory(prefix="trainyard-events-") as directory:
        yield EventLog(Path(directory))


def run_listening(command: PulumiCommand, arguments: Sequence[str]) -> EngineResult:
    """Run an engine command; return its result with its changes and, if it failed, its errors."""
    with event_log() as log:
        result = log.told(command).run([*arguments, *log.arguments])
        return heard(result, log.text())


def heard(result: EngineResult, log: str) -> EngineResult:
    """Return a result with the errors and changes of an event log."""
    result = dataclasses.replace(result, changes=resource_changes(log))
    canceled = is_canceled(log)
    # A canceled `destroy` ends with 0 although resources are left.
    if result.exit_code == 0 and not canceled:
        return dataclasses.replace(result, interrupted=False)
    return dataclasses.replace(
        result,
        errors=engine_errors(log),
        # At a terminal, Ctrl-C reaches only the engine.
        interrupted=result.interrupted or canceled,
        declined=preview_succeeded(log) and _is_declined(result.said),
        begun=operations_begun(log) > 0,
    )


def _is_declined(said: str) -> bool:
    """Return whether the engine ended at its question: after no it reports no error.

    https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/apply.go, `confirmBeforeUpdating`
    """
    return _AT_THE_QUESTION in said or "error:" not in said


_AT_THE_QUESTION = "confirmation cancelled, not proceeding with the "
