"""Commands on the head node of a cluster, which are processes of this machine.

They have a home directory of their own, which all nodes share, as on a cluster, and Slurm's
commands. `sudo` only starts a shell of the default user and `scontrol`: nothing that a command does
as root changes this machine.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sandbox.slurm.cluster import SlurmCluster

_SUDO = """\
#!/bin/bash
# sudo of the sandbox: the shell of the default user, and scontrol, which AMIs have in /opt/slurm.
while [[ ${1:-} == -* ]]; do
  [[ $1 == -*u ]] && shift
  shift
done
case ${1:-} in
  bash) cd && exec "$@" ;;
  scontrol | /opt/slurm/bin/scontrol) shift && exec scontrol "$@" ;;
  *) echo "sudo: nodes of the sandbox do not run ${1:-programs} as root" >&2 && exit 1 ;;
esac
"""


class HeadNodeShell:
    """Runs commands on the head node of a cluster.

    Args:
        slurm: Slurm of the cluster, which runs.
    """

    def __init__(self, slurm: SlurmCluster) -> None:
        self._slurm = slurm
        self.home = slurm.layout.directory / "home"
        self.programs_directory = slurm.layout.directory / "head-node" / "bin"
        for directory in (self.home, self.programs_directory):
            directory.mkdir(parents=True, exist_ok=True)
        sudo = self.programs_directory / "sudo"
        sudo.write_text(_SUDO, encoding="utf-8")
        sudo.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a command; nothing but the PATH comes from this process."""
        own = self._slurm.environment
        path = f"{self.programs_directory}:{own['PATH']}:{os.environ.get('PATH', os.defpath)}"
        return {**own, "PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8"}

    def run(
        self, commands: Sequence[str], *, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run commands as `AWS-RunShellScript` does: as one script of sh.

        Raises:
            subprocess.TimeoutExpired: they do not end in time, and are killed.
        """
        script = "\n".join(commands)
        return subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=Path("/"),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_seconds,
        )
