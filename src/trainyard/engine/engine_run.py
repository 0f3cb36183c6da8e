"""One run of the engine for `up`, `preview`, `destroy` or `refresh`, with its display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.cli import console
from trainyard.engine.engine_process import EngineResult, PulumiCommand
from trainyard.engine.listening import heard
from trainyard.progress.display import Display
from trainyard.sandboxes.client import latency_model
from trainyard.workspace.update_gate import Judge, update_gate
from trainyard.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class EngineRun:
    """How the engine is run, and who shows what it does."""

    flags: tuple[str, ...] = ()
    """Additional arguments for the engine."""
    display: Display | None = None
    """None if the engine's own output is shown and the engine asks for the confirmation."""
    lists_changes: bool = False
    """Whether the display lists the planned changes."""

    def judged(
        self, command: PulumiCommand, arguments: Sequence[str], judge: Judge, *, fails_preview: bool
    ) -> EngineResult:
        """Run a command whose update starts only if the judge accepts the preview.

        Raises:
            BaseException: the error that prevented the verdict; the update has not started.
        """
        with (
            update_gate(judge, fails_preview=fails_preview, watcher=self.display) as gate,
            self._output() as output,
        ):
            told = command.with_variables(gate.environment)
            result = told.run(
                [*arguments, *self.flags, *gate.arguments],
                output=output,
                asks=self.display is None,
            )
            # Everything is shown before the display ends.
            gate.close()
            result = heard(result, gate.log())
        if gate.failure is not None:
            raise gate.failure
        if result.exit_code and self.display is not None:
            console.progress(f"full output of Pulumi: {self.display.log_path}")
        return result

    def all(self, command: PulumiCommand, arguments: Sequence[str]) -> EngineResult:
        """Run a command whose changes need no judgment."""
        return self.judged(command, arguments, lambda _steps: True, fails_preview=False)

    @contextmanager
    def _output(self) -> Iterator[int | None]:
        if self.display is None:
            yield None
            return
        with self.display.following(lists_changes=self.lists_changes) as output:
            yield output


def display_of(workspace: Workspace, operation: str) -> Display:
    """Return the display of a command, with an empty log of the engine's output."""
    stack = workspace.stack_file.stack
    log = workspace.scratch / f"{stack}.{operation}.log"
    log.unlink(missing_ok=True)
    seconds = _no_time if workspace.target.is_sandbox else latency_model().seconds
    return Display(f"{operation} {stack}", log, seconds)


def _no_time(
    _type: str, _inputs: Mapping[str, Any], _operation: Literal["create", "update", "delete"]
) -> float:
    """In the sandbox, no resource takes as long as in AWS."""
    return 0.0
