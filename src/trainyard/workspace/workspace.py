"""A stack and the engine that deploys it, in the sandbox or in an AWS account."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from trainyard.engine.engine_process import PARALLEL_OPERATIONS, EngineResult, PulumiCommand
from trainyard.engine.listening import run_listening
from trainyard.stack_files.files import file_bytes
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.backend import (
    StackMissingError,
    backend_directory,
    lock_directory,
    state_file,
)
from trainyard.workspace.locks import clear_dead_locks, remove_broken_sidecars, short_lock
from trainyard.workspace.project import SandboxProject
from trainyard.workspace.target import Target

Report = Callable[[str], None]
_TIMEOUT_SECONDS = 10.0
"""Serializes two previews that create a new stack."""


class Workspace(Protocol):
    """Where the commands of a stack run."""

    @property
    def target(self) -> Target:
        """The stack and its account."""
        ...

    @property
    def stack_file(self) -> StackFile:
        """The stack and the content of its file."""
        ...

    @property
    def command(self) -> PulumiCommand:
        """The engine, with its working directory and environment."""
        ...

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Prepare the stack for the engine, however the last command ended."""
        ...

    def exists(self) -> bool:
        """Return whether anything was ever deployed as this stack."""
        ...

    def arguments(self) -> list[str]:
        """Return the engine arguments that select the stack."""
        ...

    @property
    def scratch(self) -> Path:
        """A directory outside of git for files that commands pass to the engine."""
        ...

    def reserve(self) -> Path | None:
        """Return a file on the disk of the state; None if the state is not on a local disk."""
        ...


@dataclass(frozen=True, slots=True)
class SandboxWorkspace:
    """A stack in the generated project of a sandbox."""

    target: Target
    command: PulumiCommand
    project: SandboxProject

    @property
    def stack_file(self) -> StackFile:
        """The stack and the content of its file."""
        return self.target.stack_file

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Write the project, create the stack, and clean up after a killed command.

        Raises:
            StackLockedError: another command holds the lock of the stack.
        """
        stack = self.stack_file.stack
        remove_broken_sidecars(self.project.state_file(stack))
        if not changes:
            self._make_ready_aside()
            return
        self._make_ready()
        _clear_dead_locks(self.project.lock_directory(stack), stack, report)
        # Reading the file avoids a slow export of a healthy stack.
        state = file_bytes(self.project.state_file(stack))
        if not any(mark in state for mark in (b'"pending_operations"', b'"initErrors"')):
            return
        _recover(self, report)

    def _make_ready(self) -> None:
        self.project.write(self.stack_file)
        if not self.exists():
            self.command.output(["stack", "init", self.stack_file.stack, "--no-select"])

    def _make_ready_aside(self) -> None:
        """Prepare for a read-only command, while another command may be reading the project."""
        if self.exists() and self.project.is_written(self.stack_file):
            return
        stack = self.stack_file.stack
        path = self.project.lock_file(stack)
        with short_lock(path, stack=stack, command="preview", timeout_seconds=_TIMEOUT_SECONDS):
            self._make_ready()

    def exists(self) -> bool:
        """Return whether the backend knows the stack."""
        return self.project.state_file(self.stack_file.stack).exists()

    def arguments(self) -> list[str]:
        """Return `--stack`; the configuration is in the generated project."""
        return ["--stack", self.stack_file.stack]

    @property
    def scratch(self) -> Path:
        """The directory of the generated project."""
        return self.project.directory

    def reserve(self) -> Path | None:
        """Return a file next to the state."""
        return self.project.directory / f".{self.stack_file.stack}.reserve"


@dataclass(frozen=True, slots=True)
class AccountWorkspace:
    """A stack in the user's own backend and account, run in the directory of its file."""

    target: Target
    command: PulumiCommand
    config_file: Path | None
    """A stack file that the engine does not find by the name of the stack."""

    @property
    def stack_file(self) -> StackFile:
        """The stack and the content of its file."""
        return self.target.stack_file

    def prepare(self, *, changes: bool, report: Report) -> None:
        """Recover from a killed command, so that no resource is created twice.

        Raises:
            StackMissingError: the user's backend does not have the stack.
            StackLockedError: another command holds the lock of the stack.
            CreatesPendingError: it is unknown what an earlier command created.
        """
        if not changes:
            return
        stack = self.stack_file.stack
        backend = self._backend()
        if backend is not None:
            remove_broken_sidecars(state_file(backend, stack))
        if not self.exists():
            raise StackMissingError(self.stack_file)
        if backend is not None:
            _clear_dead_locks(lock_directory(backend, stack), stack, report)
        _recover(self, report)

    def exists(self) -> bool:
        """Return whether the user's backend has the stack."""
        stacks = json.loads(self.command.output(["stack", "ls", "--json"]))
        return any(s["name"].rpartition("/")[2] == self.stack_file.stack for s in stacks)

    def arguments(self) -> list[str]:
        """Return `--stack` and, with another stack file, `--config-file`."""
        extra = ["--config-file", str(self.config_file)] if self.config_file else []
        return ["--stack", self.stack_file.stack, *extra]

    @property
    def scratch(self) -> Path:
        """The directory next to the stack file that git ignores."""
        return self.stack_file.own_files

    def reserve(self) -> Path | None:
        """Return a file in the directory of a `file://` backend; None for other backends."""
        backend = self._backend()
        return backend and backend / f".{self.stack_file.stack}.reserve"

    def _backend(self) -> Path | None:
        """Return the directory of the user's backend; None if it is not on this machine."""
        said = json.loads(self.command.output(["whoami", "--verbose", "--json"]))
        return backend_directory(said["url"])


def _clear_dead_locks(directory: Path, stack: str, report: Report) -> None:
    for lock in clear_dead_locks(directory, stack=stack):
        report(f"removed the lock of process {lock.holder.pid}, which no longer runs")


def _recover(workspace: Workspace, report: Report) -> None:
    from trainyard.workspace.recovery.recover import recover

    target = workspace.target
    recover(
        workspace.command,
        stack=target.stack,
        region=target.region,
        settings=target.account.settings,
        timeouts=target.account.timeouts,
        report=report,
    )


def run(
    workspace: Workspace,
    operation: str,
    extra: Sequence[str] = (),
    *,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> EngineResult:
    """Run an engine operation on the standard streams; return its result with its errors.

    `variables` are additional environment variables for this command only.
    """
    command = workspace.command.with_variables(variables)
    return run_listening(command, [*begin_of(workspace, operation), *extra])


def begin_of(workspace: Workspace, operation: str) -> list[str]:
    """Return the engine's arguments for an operation: name, stack and parallelism."""
    return [operation, *workspace.arguments(), "--parallel", str(PARALLEL_OPERATIONS)]


def outputs(workspace: Workspace, *, show_secrets: bool = False) -> dict[str, Any]:
    """Return the stack's outputs; secrets are `[secret]` unless `show_secrets` is set."""
    flags = ["--json", *(["--show-secrets"] if show_secrets else [])]
    stack = ["--stack", workspace.stack_file.stack]
    return json.loads(workspace.command.output(["stack", "output", *stack, *flags]))


def history(workspace: Workspace, *, updates: int) -> list[dict[str, Any]]:
    """Return the last updates of the stack, newest first.

    https://www.pulumi.com/docs/iac/cli/commands/pulumi_stack_history/
    """
    stack = ["--stack", workspace.stack_file.stack]
    page = ["--json", "--page-size", str(updates)]
    return json.loads(workspace.command.output(["stack", "history", *stack, *page]))
