"""Messages for files that cannot be written: which, why, and alternatives."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from pathlib import Path

from tools.engine.cache import cache_directory
from tools.engine.errors import EngineError
from tools.workspace.checkout import ROOT
from tools.workspace.project import sandbox_directory

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
    sandbox = sandbox_directory().path
    if path is not None and (path.is_relative_to(sandbox) or sandbox.is_relative_to(path)):
        return "set TRAINYARD_SANDBOX to another directory for the files of the sandbox"
    with contextlib.suppress(EngineError):
        if path is not None and path.is_relative_to(cache_directory()):
            return "set TRAINYARD_CACHE to another directory for downloaded programs"
    if path is not None and path.is_relative_to(ROOT):
        return "use a copy of the repository on another disk"
    return "use another location"


def _free(path: Path | None) -> str:
    """Return the free space where a file would be, with a leading comma."""
    there = next((each for each in (path.parents if path else ()) if each.is_dir()), None)
    if there is None:
        return ""
    return f", {shutil.disk_usage(there).free // 2**20} MiB free in {there}"
