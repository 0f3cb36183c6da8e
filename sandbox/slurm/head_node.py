"""Commands on the head node of a cluster, which are processes of this machine.

They have a home directory of their own, which all nodes share, as on a cluster, and Slurm's
commands. `sudo` only starts a shell of the default user and `scontrol`: nothing that a command does
as root changes this machine. `torchrun` is that of this machine; without one, it is a stand-in.
`sbatch` asks the account which jobs print a recorded log.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.private_files import write_private
from trainyard.sandbox.slurm.cluster import SlurmCluster

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
_TORCHRUN = [sys.executable, "-I", str(Path(__file__).with_name("torchrun.py"))]
_SBATCH = [sys.executable, "-I", str(Path(__file__).with_name("sbatch.py"))]


class HeadNodeShell:
    """Runs commands on the head node of a cluster.

    Args:
        slurm: Slurm of the cluster, which runs.
        account: The account, whose schedule of faults gives logs to jobs; None if all jobs really
            run.
    """

    def __init__(self, slurm: SlurmCluster, account: Endpoint | None = None) -> None:
        self._slurm = slurm
        self.home = slurm.layout.directory / "home"
        self.programs_directory = slurm.layout.directory / "head-node" / "bin"
        self._stand_ins = slurm.layout.directory / "head-node" / "stand-ins"
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.add_program("sudo", _SUDO)
        if account is not None:
            # Everybody can read the arguments of a process.
            self._stand_ins.mkdir(parents=True, exist_ok=True)
            key = self._stand_ins / "access-key"
            write_private(key, account.access_key.encode())
            own = str(slurm.layout.programs / "bin" / "sbatch")
            sbatch = [*_SBATCH, own, account.url, str(key)]
            self.add_program("sbatch", f'#!/bin/sh\nexec {shlex.join(sbatch)} "$@"\n')
        torchrun = f'#!/bin/sh\nexec {shlex.join(_TORCHRUN)} "$@"\n'
        _write_program(self._stand_ins / "torchrun", torchrun)

    def add_program(self, name: str, text: str) -> None:
        """Put a program on the PATH of the head node and of jobs, in the place of any other."""
        _write_program(self.programs_directory / name, text)

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a command; nothing but the PATH comes from this process."""
        own = self._slurm.environment
        machine = os.environ.get("PATH", os.defpath)
        path = f"{self.programs_directory}:{own['PATH']}:{machine}:{self._stand_ins}"
        # The clock of a head node is in UTC.
        return {**own, "PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "TZ": "UTC"}

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


def _write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}")  # the program may be started meanwhile
    partial.write_text(text, encoding="utf-8")
    partial.chmod(0o700)
    partial.replace(path)
