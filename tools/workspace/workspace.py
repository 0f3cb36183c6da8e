"""One stack and the engine that works on it, in the sandbox or in an AWS account."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tools.workspace.engine_process import EngineResult, PulumiCommand
from tools.workspace.locks import clear_dead_locks
from tools.workspace.pending import clear_pending_operations, refuse_pending_creates
from tools.workspace.project import SandboxProject
from tools.workspace.stack_files import ROOT, StackFile

Report = Callable[[str], None]


class StackMissingError(Exception):
    """The user's Pulumi backend does not have the stack; the message says how to make it."""


class Workspace(Protocol):
    """Where the commands of one stack run."""

    @property
    def stack_file(self) -> StackFile:
        """The stack and what its file says."""
        ...

    @property
    def command(self) -> PulumiCommand:
        """The engine, with where to run it."""
        ...

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Make the engine able to work on the stack, whatever ended the last command."""
        ...

    def exists(self) -> bool:
        """Return whether there is anything that was deployed as this stack."""
        ...

    def arguments(self) -> list[str]:
        """Return the arguments that tell the engine which stack is meant."""
        ...

    @property
    def scratch(self) -> Path:
        """A directory outside of git for files that commands of the stack hand to the engine."""
        ...


@dataclass(frozen=True, slots=True)
class SandboxWorkspace:
    """A stack in the generated project of a sandbox."""

    stack_file: StackFile
    command: PulumiCommand
    project: SandboxProject

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Write the project, make the stack, and clear what a killed command left behind."""
        self.project.write(self.stack_file)
        stack = self.stack_file.stack
        if not self.exists():
            self.command.output(["stack", "init", stack, "--no-select"])
        if not changes:
            return
        for lock in clear_dead_locks(self.project.locks / stack, stack=stack):
            report(f"cleared the lock of process {lock.pid}, which is gone")
        # Reading the file spares a healthy stack the time of an export.
        if b'"pending_operations"' not in self.project.state_file(stack).read_bytes():
            return
        for urn in clear_pending_operations(self.command, stack=stack):
            report(f"forgot the unfinished create of {urn}")

    def exists(self) -> bool:
        """Return whether the backend has a record of the stack."""
        return self.project.state_file(self.stack_file.stack).exists()

    def arguments(self) -> list[str]:
        """Return `--stack`; the configuration is the generated project's."""
        return ["--stack", self.stack_file.stack]

    @property
    def scratch(self) -> Path:
        """The generated project's directory."""
        return self.project.directory


@dataclass(frozen=True, slots=True)
class AccountWorkspace:
    """A stack of the user's own backend and account, run in the checkout."""

    stack_file: StackFile
    command: PulumiCommand
    config_file: Path | None
    """A stack file in place of the tracked one."""

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Refuse to go on where an earlier command may have left objects nobody counts.

        Raises:
            StackMissingError: the user's backend has no such stack.
            CreatesPendingError: an earlier command was killed while it created something.
        """
        if not changes:
            return
        stack = self.stack_file.stack
        if not self.exists():
            raise StackMissingError(
                f"the Pulumi backend that you are logged in to has no stack {stack}; make it:\n"
                f"  pulumi stack init {stack}"
            )
        refuse_pending_creates(self.command, stack=stack)

    def exists(self) -> bool:
        """Return whether the user's backend has the stack."""
        stacks = json.loads(self.command.output(["stack", "ls", "--json"]))
        return any(s["name"].rpartition("/")[2] == self.stack_file.stack for s in stacks)

    def arguments(self) -> list[str]:
        """Return `--stack` and, where another stack file is used, `--config-file`."""
        extra = ["--config-file", str(self.config_file)] if self.config_file else []
        return ["--stack", self.stack_file.stack, *extra]

    @property
    def scratch(self) -> Path:
        """The checkout's directory that git ignores."""
        return ROOT / ".trainyard"


def run(workspace: Workspace, operation: str, extra: Sequence[str] = ()) -> EngineResult:
    """Run an engine operation on our standard streams."""
    return workspace.command.run([operation, *workspace.arguments(), *extra])


def outputs(workspace: Workspace, *, show_secrets: bool = False) -> dict[str, Any]:
    """Return the stack's outputs; secrets are `[secret]` unless they are asked for."""
    flags = ["--json", *(["--show-secrets"] if show_secrets else [])]
    stack = ["--stack", workspace.stack_file.stack]
    return json.loads(workspace.command.output(["stack", "output", *stack, *flags]))


def last_changes(workspace: Workspace) -> dict[str, int]:
    """Return how many resources the last update created, changed and so on, by operation."""
    stack = ["--stack", workspace.stack_file.stack]
    arguments = ["stack", "history", *stack, "--json", "--page-size", "1"]
    history = json.loads(workspace.command.output(arguments))
    return dict(history[0].get("resourceChanges") or {}) if history else {}
