"""Exit codes and messages of the errors that a user can correct."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from trainyard.capacity.errors import UnreadableRecordError
from trainyard.cli.failures import WORK_FAILED, WRONG_USE, CommandError
from trainyard.components.account.answers import AccountUnreachableError
from trainyard.components.config.problems import ConfigError
from trainyard.engine.engine_process import EngineFailedError
from trainyard.stack_files.files import FileRefusedError
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import StackFileError
from trainyard.stack_files.stacks_directory import StacksDirectoryError
from trainyard.stack_files.yaml_limits import UnreadableYamlError
from trainyard.workspace.backend import NotLoggedInError, StackMissingError
from trainyard.workspace.exported_state import NewerStateError
from trainyard.workspace.locks import StackLockedError
from trainyard.workspace.recovery.errors import CreatesPendingError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


def unwritable(error: OSError) -> str | None:
    """Return a message for a full disk or missing permissions; None for other errors."""
    if error.errno not in (*_FULL, *_FORBIDDEN):
        return None
    path = Path(os.fsdecode(error.filename)).absolute() if error.filename else None
    name, reason = str(path or "a file"), os.strerror(error.errno)
    if error.errno in _FULL:
        return (
            f"not enough disk space to write {name} ({reason}{_free(path)}); the previous content "
            f"is kept. Free disk space, or {_elsewhere(path)}, and run the same command again"
        )
    return f"{name} cannot be used ({reason}); make it writable, or {_elsewhere(path)}"


def _elsewhere(path: Path | None) -> str:
    # No other error needs the sandbox.
    from trainyard.sandboxes import client
    from trainyard.workspace.project import sandbox_directory

    sandbox = sandbox_directory().path
    if path is not None and (path.is_relative_to(sandbox) or sandbox.is_relative_to(path)):
        return "set TRAINYARD_SANDBOX to another directory for the files of the sandbox"
    cache = client.program_cache()
    if path is not None and cache is not None and path.is_relative_to(cache):
        return "set TRAINYARD_CACHE to another directory for downloaded programs"
    clone = INSTALLATION.clone
    if path is not None and clone is not None and path.is_relative_to(clone):
        return "use a copy of the repository on another disk"
    return "use another location"


def _free(path: Path | None) -> str:
    """Return the free space where a file would be, with a leading comma."""
    there = next((each for each in (path.parents if path else ()) if each.is_dir()), None)
    if there is None:
        return ""
    return f", {shutil.disk_usage(there).free // 2**20} MiB free in {there}"


_WRONG_USE = (
    ConfigError,
    StackFileError,
    StacksDirectoryError,
    FileRefusedError,
    UnreadableYamlError,
    StackMissingError,
    NotLoggedInError,
    AccountUnreachableError,
)
_FAILED = (
    EngineFailedError,
    StackLockedError,
    CreatesPendingError,
    NewerStateError,
    UnreadableRecordError,
)


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code of a user-facing error; None for a bug."""
    if isinstance(error, CommandError):
        return error.exit_code
    if isinstance(error, _WRONG_USE):
        return WRONG_USE
    if isinstance(error, (*_FAILED, *_errors_of_the_sandbox())):
        return WORK_FAILED
    return WORK_FAILED if _unwritable(error) else None


def _errors_of_the_sandbox() -> tuple[type[Exception], ...]:
    client: Any = sys.modules.get("trainyard.sandboxes.client")
    return client.user_errors() if client is not None else ()


def message_of(error: BaseException) -> str:
    """Return the message for an error that ends a command."""
    return _unwritable(error) or str(error)


def _unwritable(error: BaseException) -> str | None:
    return unwritable(error) if isinstance(error, OSError) else None
