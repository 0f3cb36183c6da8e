"""How long resources of a sandbox take, as a share of the time in AWS.

The account's endpoint receives the value (`trainyard.sandbox.aws.transitions`). It is also stored
in the sandbox's directory, because the engine of every later command starts an emulated Kubernetes
provider, which reads the value from its environment (`trainyard.sandbox.latency.pace`).
"""

from __future__ import annotations

from trainyard.sandboxes.client import SandboxDirectory, pace_environment
from trainyard.stack_files.files import file_text, write_private

_FILE = "latency"


def set_pace(directory: SandboxDirectory, scale: float) -> None:
    """Set the share of AWS's time that every resource takes; 0 means no delay."""
    path = directory.path / _FILE
    if scale:
        write_private(path, f"{scale:g}")
    else:
        path.unlink(missing_ok=True)


def pace_of(directory: SandboxDirectory) -> dict[str, str]:
    """Return the environment variables for the providers of a sandbox; empty without a pace."""
    return pace_environment(_pace(directory))


def described_pace(directory: SandboxDirectory) -> str:
    """Return the pace as text for `sandbox status`."""
    scale = _pace(directory)
    return f"{scale} of AWS's time" if scale else ""


def _pace(directory: SandboxDirectory) -> str:
    path = directory.path / _FILE
    return file_text(path) if path.exists() else ""
