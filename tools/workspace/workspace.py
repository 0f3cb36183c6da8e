"""One stack and the engine that works on it, in the sandbox or in an AWS account."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from tools.workspace.command_lock import short_lock
from tools.workspace.engine_process import PARALLEL_OPERATIONS, EngineResult, PulumiCommand
from tools.workspace.file_backend import backend_directory, lock_directory, state_file
from tools.workspace.listening import run_listening
from tools.workspace.locks import clear_dead_locks
from tools.workspace.project import SandboxProject
from tools.workspace.sidecars import remove_broken_sidecars
from tools.workspace.stack_files import OWN_FILES, StackFile

Report = Callable[[str], None]
_TIMEOUT_SECONDS = 10.0
"""Two previews of a new stack make it one after the other."""


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

    def reserve(self) -> Path | None:
        """Return a file on the disk of the state; None where the state is not on a disk here."""
        ...


@dataclass(frozen=True, slots=True)
class SandboxWorkspace:
    """A stack in the generated project of a sandbox."""

    stack_file: StackFile
    command: PulumiCommand
    project: SandboxProject

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Write the project, make the stack, and clear what a killed command left behind.

        Raises:
            StackLockedError: another command works on the stack.
        """
        stack = self.stack_file.stack
        remove_broken_sidecars(self.project.state_file(stack))
        if not changes:
            self._make_ready_aside()
            return
        self._make_ready()
        _clear_dead_locks(self.project.lock_directory(stack), stack, report)
        # Reading the file spares a healthy stack the time of an export.
        state = self.project.state_file(stack).read_bytes()
        if not any(mark in state for mark in (b'"pending_operations"', b'"initErrors"')):
            return
        from tools.workspace.recovery.recover import recover
        from tools.workspace.recovery.timeouts import IN_THE_SANDBOX

        region = self.stack_file.region
        recover(self.command, stack=stack, region=region, timeouts=IN_THE_SANDBOX, report=report)

    def _make_ready(self) -> None:
        self.project.write(self.stack_file)
        if not self.exists():
            self.command.output(["stack", "init", self.stack_file.stack, "--no-select"])

    def _make_ready_aside(self) -> None:
        """Do so for a command that changes nothing, beside one that may be reading the project."""
        if self.exists() and self.project.is_written(self.stack_file):
            return
        stack = self.stack_file.stack
        path = self.project.lock_file(stack)
        with short_lock(path, stack=stack, command="preview", timeout_seconds=_TIMEOUT_SECONDS):
            self._make_ready()

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

    def reserve(self) -> Path | None:
        """Return a file beside the state."""
        return self.project.directory / f".{self.stack_file.stack}.reserve"


@dataclass(frozen=True, slots=True)
class AccountWorkspace:
    """A stack of the user's own backend and account, run in the checkout."""

    stack_file: StackFile
    command: PulumiCommand
    config_file: Path | None
    """A stack file in place of the tracked one."""

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Take up what a killed command left behind, so that nothing is made twice.

        Raises:
            StackMissingError: the user's backend has no such stack.
            StackLockedError: another command works on the stack.
            CreatesPendingError: it cannot be told what an earlier command made.
        """
        if not changes:
            return
        stack = self.stack_file.stack
        backend = self._backend()
        if backend is not None:
            remove_broken_sidecars(state_file(backend, stack))
        if not self.exists():
            raise StackMissingError(
                f"the Pulumi backend that you are logged in to has no stack {stack}; make it:\n"
                f"  pulumi stack init {stack}"
            )
        if backend is not None:
            _clear_dead_locks(lock_directory(backend, stack), stack, report)
        from tools.workspace.recovery.recover import recover
        from tools.workspace.recovery.timeouts import IN_AN_ACCOUNT

        recover(
            self.command,
            stack=stack,
            region=self.stack_file.region,
            profile=self.stack_file.profile,
            timeouts=IN_AN_ACCOUNT,
            report=report,
        )

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
        return OWN_FILES

    def reserve(self) -> Path | None:
        """Return a file in the directory of a `file://` backend; None with another backend."""
        backend = self._backend()
        return backend and backend / f".{self.stack_file.stack}.reserve"

    def _backend(self) -> Path | None:
        """Return the directory of the user's backend; None where it is none on this machine."""
        said = json.loads(self.command.output(["whoami", "--verbose", "--json"]))
        return backend_directory(said["url"])


def _clear_dead_locks(directory: Path, stack: str, report: Report) -> None:
    for lock in clear_dead_locks(directory, stack=stack):
        report(f"cleared the lock of process {lock.holder.pid}, which is gone")


def run(
    workspace: Workspace,
    operation: str,
    extra: Sequence[str] = (),
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> EngineResult:
    """Run an engine operation on our standard streams; its errors come with the result.

    `variables` are for this one command, besides those of the workspace.
    """
    command = workspace.command.with_variables(variables)
    return run_listening(command, [*begin_of(workspace, operation), *extra])


def begin_of(workspace: Workspace, operation: str) -> list[str]:
    """Return the engine's arguments for an operation: its name, the stack, how much at a time."""
    return [operation, *workspace.arguments(), "--parallel", str(PARALLEL_OPERATIONS)]


def outputs(workspace: Workspace, *, show_secrets: bool = False) -> dict[str, Any]:
    """Return the stack's outputs; secrets are `[secret]` unless they are asked for."""
    flags = ["--json", *(["--show-secrets"] if show_secrets else [])]
    stack = ["--stack", workspace.stack_file.stack]
    return json.loads(workspace.command.output(["stack", "output", *stack, *flags]))


def history(workspace: Workspace, *, updates: int) -> list[dict[str, Any]]:
    """Return so many of the stack's last updates, the newest first.

    https://www.pulumi.com/docs/iac/cli/commands/pulumi_stack_history/
    """
    stack = ["--stack", workspace.stack_file.stack]
    page = ["--json", "--page-size", str(updates)]
    return json.loads(workspace.command.output(["stack", "history", *stack, *page]))
