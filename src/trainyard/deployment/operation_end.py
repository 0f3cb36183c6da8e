"""How an operation of the engine ended: done, cancelled, killed or failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from trainyard.cli import console, failures
from trainyard.cli.panel import changes_line
from trainyard.diagnosis.known_errors import is_unreachable
from trainyard.workspace.backend import STACK_NOT_FOUND, StackMissingError
from trainyard.workspace.locks import StackLockedError, locked_out
from trainyard.workspace.session import refuse_occupied
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.engine.engine_process import EngineResult
    from trainyard.workspace.workspace import Workspace


def finish(result: EngineResult, workspace: Workspace, operation: str) -> None:
    """Return if an operation of the engine succeeded, and end the command if it did not.

    Raises:
        CancelledError: the user declined or interrupted it.
        StackLockedError: another command holds the lock of the stack.
        StackMissingError: the user's backend does not have the stack.
        typer.Exit: it failed; the message was printed.
    """
    if result.exit_code == 0 and not result.interrupted:
        return
    stack = workspace.stack_file.stack
    if result.exit_code == STACK_NOT_FOUND and not workspace.target.is_sandbox:
        raise StackMissingError(workspace.stack_file)
    _refuse_locked(result, workspace.target)
    again = workspace.target.command(operation)
    if result.declined:
        raise failures.CancelledError(f"{operation} of {stack}; nothing was changed")
    if result.exit_code >= 0 and result.interrupted:
        raise failures.CancelledError(_interrupted(result, operation, stack, again))
    if result.exit_code < 0:
        message = (
            f"the engine was killed during the {operation} of {stack}; completed operations are "
            f"recorded, and the next command looks up the others\n  continue:  {again}"
        )
    elif operation == "preview":
        message = (
            f"the preview of {stack} failed; nothing was changed. See the reason above\n"
            f"{_reasons(result, workspace)}"
        ).rstrip()
    else:
        message = (
            f"{operation} of {stack} did not complete; see the reason above. Completed operations "
            "are kept and "
            f"recorded\n{_reasons(result, workspace)}{_go_on(result, again)}"
        ).rstrip()
    console.problem(message)
    raise typer.Exit(failures.WORK_FAILED)


def _interrupted(result: EngineResult, operation: str, stack: str, again: str) -> str:
    if not result.begun:
        return f"{operation} of {stack} was interrupted; nothing was changed"
    return (
        f"{operation} of {stack} was interrupted; completed operations are kept and recorded: "
        f"{changes_line(result.changes)}\n  continue:  {again}"
    )


def _refuse_locked(result: EngineResult, target: Target) -> None:
    locked = locked_out(result.said, stack=target.stack)
    if locked is not None:
        raise StackLockedError(locked)
    # A preview may have read a state that another command was writing.
    refuse_occupied(target)


def _go_on(result: EngineResult, again: str) -> str:
    if any(is_unreachable(error) for error in result.errors):
        return ""  # a retry would fail again; the reasons name the commands that help
    return f"  continue after the cause is fixed:  {again}"


def _reasons(result: EngineResult, workspace: Workspace) -> str:
    from trainyard.engine.engine_failure import why_it_failed

    found = why_it_failed(result.errors, workspace)
    return "".join(f"  {line}\n" for line in found)
