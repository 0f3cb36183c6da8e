"""How long the resources of a sandbox take, as a share of what AWS takes.

The account is told by its endpoint (`sandbox.aws.transitions`). It is kept in the sandbox's
directory, too, because the engine of every later command starts a stand-in for the Kubernetes
provider, which reads it from its environment (`sandbox.latency.pace`).
"""

from __future__ import annotations

from sandbox.latency.pace import VARIABLE
from sandbox.state import SandboxDirectory
from tools.workspace.files import write_whole

_FILE = "latency"


def set_pace(directory: SandboxDirectory, scale: float) -> None:
    """Let every resource take this share of AWS's time; 0 lets none take any."""
    path = directory.path / _FILE
    if scale:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, f"{scale:g}")
    else:
        path.unlink(missing_ok=True)


def pace_of(directory: SandboxDirectory) -> dict[str, str]:
    """Return what the providers of a sandbox have in their environment; empty without a pace."""
    path = directory.path / _FILE
    return {VARIABLE: path.read_text(encoding="utf-8") if path.exists() else ""}


def described_pace(directory: SandboxDirectory) -> str:
    """Return the pace as `sandbox status` shows it."""
    scale = pace_of(directory)[VARIABLE]
    return f"{scale} of AWS's time" if scale else ""
