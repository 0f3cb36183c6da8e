"""File layout of a `file://` backend of the engine.

Source: https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/diy/store.go and `lock.go`
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from trainyard.stack_files.installation import PROJECT

_BOOKKEEPING = ".pulumi"


def backend_directory(address: str) -> Path | None:
    """Return the directory of a backend; None if it is not a directory on this machine.

    Args:
        address: The backend URL as `pulumi whoami` prints it.
    """
    scheme, _, place = address.partition("://")
    return Path(unquote(place.partition("?")[0])).expanduser() if scheme == "file" else None


def state_file(backend: Path, stack: str) -> Path:
    """Return the state file of a stack."""
    return backend / _BOOKKEEPING / "stacks" / PROJECT / f"{stack}.json"


def lock_directory(backend: Path, stack: str) -> Path:
    """Return the lock directory of a stack, which exists after the first lock."""
    return backend / _BOOKKEEPING / "locks" / "organization" / PROJECT / stack


def history_directory(backend: Path, stack: str) -> Path:
    """Return the directory with a record of each update of a stack that ended."""
    return backend / _BOOKKEEPING / "history" / PROJECT / stack
