"""What `repair` is asked for, and its confirmation."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import typer

from trainyard.cli import console, failures
from trainyard.repair.journal import Journal
from trainyard.workspace.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """The arguments of `repair`."""

    target: Target
    node: str | None
    """Name of the only node to replace."""
    dry_run: bool
    yes: bool
    drain_limit_minutes: float
    wait_limit_minutes: float
    pause: Callable[[float], object] = time.sleep
    """Waits between two polls."""

    @property
    def journal(self) -> Journal:
        """The log of the repairs of the stack."""
        directory = self.target.kubeconfig_path.parent
        return Journal(directory / f"{self.target.stack}.repair.jsonl")

    def confirm(self, what: str) -> None:
        """Ask whether to go on, unless `--yes` was given.

        Raises:
            WrongUseError: there is no terminal for the answer.
            CancelledError: the answer is no; nothing was changed.
        """
        if self.yes:
            return
        if not console.at_a_terminal():
            raise failures.WrongUseError(
                "there is no terminal for the confirmation; add --yes to replace nodes, or "
                "--dry-run to only show them"
            )
        if not typer.confirm(f"{what}?", default=False):
            raise failures.CancelledError("nothing was changed")
