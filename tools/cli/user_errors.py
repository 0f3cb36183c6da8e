"""Exit codes and messages of the errors that a user can correct."""

from __future__ import annotations

from components.account.lookup import AccountUnreachableError
from components.config.problems import ConfigError
from sandbox.state import SandboxError
from tools.cli.failures import WORK_FAILED, WRONG_USE, CommandError
from tools.cli.unwritable import unwritable
from tools.engine.errors import EngineError
from tools.workspace.backend_login import NotLoggedInError
from tools.workspace.engine_process import EngineFailedError
from tools.workspace.locks import StackLockedError
from tools.workspace.missing_stack import StackMissingError
from tools.workspace.recovery.errors import CreatesPendingError
from tools.workspace.stack_files import StackFileError
from tools.workspace.stacks_directory import StacksDirectoryError
from tools.workspace.yaml_reader import UnreadableYamlError

_WRONG_USE = (
    ConfigError,
    StackFileError,
    StacksDirectoryError,
    UnreadableYamlError,
    StackMissingError,
    NotLoggedInError,
    AccountUnreachableError,
)
_FAILED = (EngineError, EngineFailedError, SandboxError, StackLockedError, CreatesPendingError)


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code of a user-facing error; None for a bug."""
    if isinstance(error, CommandError):
        return error.exit_code
    if isinstance(error, _WRONG_USE):
        return WRONG_USE
    if isinstance(error, _FAILED):
        return WORK_FAILED
    return WORK_FAILED if _unwritable(error) else None


def message_of(error: BaseException) -> str:
    """Return the message for an error that ends a command."""
    return _unwritable(error) or str(error)


def _unwritable(error: BaseException) -> str | None:
    return unwritable(error) if isinstance(error, OSError) else None
