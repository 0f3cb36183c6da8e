"""Errors that end a command with a message and an exit code."""

from __future__ import annotations

WORK_FAILED = 1
"""Exit code: the operation started and failed."""
WRONG_USE = 2
"""Exit code: invalid usage or configuration; nothing was started."""


class CommandError(Exception):
    """Ends a command with a message on standard error and an exit code."""

    def __init__(self, message: str, *, exit_code: int = WORK_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class WrongUseError(CommandError):
    """The arguments or the configuration cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message, exit_code=WRONG_USE)


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code of a user-facing error; None for a bug."""
    if isinstance(error, CommandError):
        return error.exit_code
    # Import only when a command fails.
    from components.account.lookup import AccountUnreachableError
    from components.config.problems import ConfigError
    from sandbox.state import SandboxError
    from tools.engine.errors import EngineError
    from tools.workspace.engine_process import EngineFailedError
    from tools.workspace.locks import StackLockedError
    from tools.workspace.recovery.errors import CreatesPendingError
    from tools.workspace.stack_files import StackFileError
    from tools.workspace.workspace import StackMissingError
    from tools.workspace.yaml_reader import UnreadableYamlError

    wrong_use = (
        ConfigError,
        StackFileError,
        UnreadableYamlError,
        StackMissingError,
        AccountUnreachableError,
    )
    failed = (EngineError, EngineFailedError, SandboxError, StackLockedError, CreatesPendingError)
    if isinstance(error, wrong_use):
        return WRONG_USE
    if isinstance(error, failed):
        return WORK_FAILED
    return WORK_FAILED if _unwritable(error) else None


def message_of(error: BaseException) -> str:
    """Return the message for an error that ends a command."""
    return _unwritable(error) or str(error)


def _unwritable(error: BaseException) -> str | None:
    if not isinstance(error, OSError):
        return None
    from tools.cli.unwritable import unwritable

    return unwritable(error)
