"""The content of `sandbox status`."""

from __future__ import annotations

from typing import Any

from sandbox.kubernetes.emulation import described_version
from sandbox.state import SandboxDirectory
from tools.cli import sandbox_faults
from tools.cli.sandbox_pace import described_pace
from tools.cli.sandbox_session import project_of
from tools.engine import read_plugins
from tools.workspace.project import sandbox_directory


def describe() -> dict[str, Any]:
    """Return the content of `sandbox status`."""
    directory = sandbox_directory()
    status = directory.read_status()
    return {
        "running": status is not None,
        "directory": str(directory.path),
        "aws endpoint": status.aws_endpoint if status else "",
        "account": f"{status.account_id} in {status.region}" if status else "",
        "process": str(status.pid) if status else "",
        "stacks": project_of(directory).stacks() if status else [],
        "clusters": _clusters(directory) if status else [],
        "plugins": _described_plugins(directory) if status else [],
        "latency": described_pace(directory) if status else "",
        "faults": _faults() if status else [],
        "logs": str(directory.logs),
    }


def _described_plugins(directory: SandboxDirectory) -> list[str]:
    """Return each provider plugin with its version and origin."""
    return [plugin.description for plugin in read_plugins(directory.path)]


def _faults() -> list[str]:
    """Return each active fault and how often it has occurred."""
    return sandbox_faults.lines(sandbox_faults.in_force())


def _clusters(directory: SandboxDirectory) -> list[str]:
    """Return each cluster with its Kubernetes version and its API server."""
    return sorted(
        f"{path.parent.name} ({described_version(path.read_text(encoding='utf-8'))})"
        for path in directory.clusters.glob("*/version")
    )
