"""The programs of a sandbox on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tools.engine import (
    Plugin,
    ensure_controller,
    ensure_kubernetes,
    ensure_plugins,
    ensure_pulumi,
    ensure_slurm,
)
from tools.parallelcluster.environment import parallelcluster_python

Report = Callable[[str], None]


class SandboxPrograms:
    """Gets the programs of a sandbox: from the cache, a download or a build."""

    def plugins(self, report: Report, chosen: Mapping[str, Path] | None) -> tuple[Plugin, ...]:
        """Return the provider plugins."""
        return ensure_plugins(report, ensure_pulumi(report), chosen)

    def kubernetes(self, report: Report) -> dict[str, list[str]]:
        """Return the commands of the Kubernetes programs, by name."""
        return ensure_kubernetes(report)

    def controller(self, name: str, report: Report) -> list[str]:
        """Return the command of a controller, such as `kueue`."""
        return ensure_controller(name, report)

    def parallelcluster(self, report: Report) -> list[str]:
        """Return the Python with aws-parallelcluster and ministack."""
        return [str(parallelcluster_python(report))]

    def slurm(self, report: Report) -> list[str]:
        """Return the directory of Slurm."""
        return [str(ensure_slurm(report))]


PROGRAMS = SandboxPrograms()
"""Those of this machine."""
