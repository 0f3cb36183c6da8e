"""The head nodes of the ParallelCluster stacks in a sandbox, each with a real Slurm."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.faults.fault import Schedule
from trainyard.sandbox.faults.kinds import (
    CONTAINER_FAILS,
    CONTAINER_HANGS,
    CONTAINER_SUCCEEDS,
    SIGTERM_EXIT_CODE,
    Course,
    StartedContainer,
    course_of,
    matches_job,
)
from trainyard.sandbox.faults.schedule import FAULTS
from trainyard.sandbox.parallelcluster.provider.account import Record, Records
from trainyard.sandbox.private_files import write_private
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree
from trainyard.sandbox.slurm.blocks import BlockInstances, BlockNodes, SlurmBlocks
from trainyard.sandbox.slurm.cluster import SlurmCluster, SlurmError
from trainyard.sandbox.slurm.configuration import ranges_of
from trainyard.sandbox.slurm.lost_nodes import LostNodes

# Slurm jobs that the schedule of faults names: they print recorded logs, and run no program.
#
# All other jobs really run, also those that only lose a node
# (`trainyard.sandbox.slurm.lost_nodes`). The stand-in for `sbatch` asks for the program of each
# job.


_KINDS = (CONTAINER_FAILS, CONTAINER_SUCCEEDS, CONTAINER_HANGS)


def recorded_program(faults: Schedule, job: str) -> str | None:
    """Return what a job runs that is submitted now, in Bash; None if no entry names the job.

    As with containers, a job whose entries hit other starts succeeds and prints nothing. `index` is
    that of the first node, on which Slurm runs the script of a job.
    """
    started = StartedContainer(job=job, index=0, labels={})
    entries = [each for kind in _KINDS for each in faults.of_kind(kind.name)]
    if not any(matches_job(each.fault.job or "", job) for each in entries):
        return None
    return _program(course_of(faults, started, _KINDS) or Course())


def _program(course: Course) -> str:
    ends = "infinity" if course.ends_after is None else f"{course.ends_after.total_seconds():g}"
    stops = f"{course.stops_after.total_seconds():g}"
    stop = f"{_printed(course.stop_lines)}sleep {stops}\nexit {SIGTERM_EXIT_CODE}"
    # Slurm sends SIGTERM to all processes of a job, and `sleep` ignores it. Bash handles it during
    # `wait`, and not before the end of a program that it runs.
    return (
        f"trap '' TERM\nsleep {ends} &\ntrap {shlex.quote(stop)} TERM\n"
        f"{_printed(course.lines)}wait $!\nexit {course.exit_code}\n"
    )


def _printed(lines: tuple[str, ...]) -> str:
    return f"printf '%s\\n' {shlex.quote(chr(10).join(lines))}\n" if lines else ""


# Commands on the head node of a cluster, which are processes of this machine.
#
# They have a home directory of their own, which all nodes share, as on a cluster, and Slurm's
# commands. `sudo` only starts a shell of the default user and `scontrol`: nothing that a command
# does as root changes this machine. `torchrun` is that of this machine; without one, it is a
# stand-in. `sbatch` asks the account which jobs print a recorded log.


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


# The clock of the sandbox in a Slurm, which has the time of the machine.
#
# When the clock is advanced, the time limits of the jobs that run are as much shorter; Slurm ends a
# job at its limit within half a minute (`PERIODIC_TIMEOUT` in
# https://github.com/SchedMD/slurm/blob/slurm-22-05-8-1/src/slurmctld/controller.c). `date` on the
# nodes shows the time of the account.


_MINUTE = timedelta(minutes=1)
_LEFT = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):\d+")
"""Time left: `[days-]hours:minutes:seconds` or `minutes:seconds`, and words such as UNLIMITED.
https://slurm.schedmd.com/squeue.html (`%L`)"""


class SlurmClock:
    """The time of a Slurm that runs, from the present time on."""

    def __init__(self, slurm: SlurmCluster, shell: HeadNodeShell) -> None:
        self._slurm = slurm
        self._shell = shell
        self._ahead = CLOCK.ahead
        self._show_time()

    def step(self) -> None:
        """Pass on the time by which the clock was advanced.

        Raises:
            SlurmError: Slurm does not respond.
        """
        passed = (CLOCK.ahead - self._ahead) // _MINUTE
        if passed <= 0:
            return
        self._ahead += passed * _MINUTE
        self._show_time()
        for job, left in self._jobs():
            less = f"TimeLimit-={min(passed, left)}"
            with contextlib.suppress(SlurmError):  # it has ended
                self._slurm.run("scontrol", "update", f"JobId={job}", less)

    def _jobs(self) -> Iterator[tuple[str, int]]:
        """Yield the ids of the jobs that run and have a limit, and their whole minutes left."""
        listed = self._slurm.run("squeue", "--noheader", "--states=running", "--format=%A %L")
        for line in listed.splitlines():
            job, left = line.split()
            found = _LEFT.fullmatch(left)
            if found:
                days, hours, minutes = (int(each or 0) for each in found.groups())
                yield job, (days * 24 + hours) * 60 + minutes

    def _show_time(self) -> None:
        seconds = int(self._ahead.total_seconds())
        date = shlex.quote(shutil.which("date") or "/bin/date")
        self._shell.add_program("date", f'#!/bin/sh\nexec {date} --date="{seconds} seconds" "$@"\n')


# The head nodes of the ParallelCluster stacks in a sandbox, each with a real Slurm.
#
# The Slurm of a cluster starts with the first command on its head node, so that a stack comes up
# without it. It ends with its cluster, and starts again when an update has changed the queues.
#
# Source:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/HeadNode-v3.html
#     (`AdditionalIamPolicies`)
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/connect-ssm-v3.html: Systems Manager
#     needs
#         the policy AmazonSSMManagedInstanceCore


LOG = logging.getLogger("trainyard.sandbox.slurm")

_POLL_SECONDS = 1.0
_POLICY = "/AmazonSSMManagedInstanceCore"


@dataclass(frozen=True, slots=True)
class _Running:
    """A Slurm that runs, with the record of its cluster when it started."""

    record: Record
    slurm: SlurmCluster
    shell: HeadNodeShell
    clock: SlurmClock
    blocks: SlurmBlocks
    lost: LostNodes

    def is_of(self, record: Record | None) -> bool:
        """Return whether it is the Slurm of a cluster as it is now."""
        return (
            record is not None
            and record.created == self.record.created
            and record.configuration["Scheduling"] == self.record.configuration["Scheduling"]
        )


class HeadNodes:
    """Runs commands on head nodes.

    Args:
        directory: Directory with one for each cluster.
        records: The clusters that exist.
        instances: The instances of their nodes in Capacity Blocks.
        programs: Returns the directory of Slurm's programs; None if the sandbox has none yet.
        spawn: Starts processes.
        account: The account, whose schedule of faults gives logs to jobs; None if all jobs really
            run.
    """

    def __init__(
        self,
        directory: Path,
        records: Records,
        instances: BlockInstances,
        programs: Callable[[], Path | None],
        spawn: Spawn,
        account: Endpoint | None = None,
    ) -> None:
        self._directory = directory
        self._records = records
        self._instances = instances
        self._programs = programs
        self._spawn = spawn
        self._account = account
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}

    def is_managed(self, cluster: str) -> bool:
        """Return whether the head node of a cluster runs an SSM Agent that may connect."""
        record = self._records.find(cluster)
        return record is not None and self._programs() is not None and _may_connect(record)

    def run(
        self, cluster: str, commands: Sequence[str], *, timeout_seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run commands on the head node of a cluster, and start its Slurm if necessary.

        Raises:
            SlurmError: the cluster does not exist, or its Slurm does not start.
            TimeoutExpired: they do not end in time.
        """
        with self._lock:
            shell = self._shell(cluster)
        return shell.run(commands, timeout_seconds=timeout_seconds)

    def follow(self, stopped: threading.Event) -> None:
        """End the Slurm of each cluster that is deleted or changed, until the event is set.

        Nodes in Capacity Blocks come and go with them, and jobs end by the clock of the sandbox.
        """
        while not stopped.wait(_POLL_SECONDS):
            with self._lock:
                self._end_others()
                for record in self._records.every():
                    if record.is_settled:  # else its nodes are about to change
                        self._follow(record)

    def _follow(self, record: Record) -> None:
        found, running = self._nodes_in_blocks(record), self._running.get(record.name)
        if running is None:
            return
        try:
            running.clock.step()
            running.blocks.step(found)
            running.lost.step()
        except SlurmError as error:
            LOG.warning("the Slurm of %s does not follow the clock: %s", record.name, error)

    def _nodes_in_blocks(self, record: Record) -> list[BlockNodes]:
        ranges = ranges_of(_typed(record.configuration))
        return self._instances.follow(record.name, [e for e in ranges if e.capacity_block])

    def stop_all(self) -> None:
        """End every Slurm with its jobs."""
        with self._lock:
            for each in self._running.values():
                each.slurm.stop()
            self._running.clear()

    def _shell(self, cluster: str) -> HeadNodeShell:
        self._end_others()
        if cluster not in self._running:
            record, programs = self._records.find(cluster), self._programs()
            if record is None or programs is None:
                raise SlurmError(f"the cluster {cluster} has no head node")
            self._running[cluster] = self._started(record, programs)
        return self._running[cluster].shell

    def _started(self, record: Record, programs: Path) -> _Running:
        directory = self._directory / record.name
        directory.mkdir(parents=True, exist_ok=True)
        slurm = SlurmCluster(
            record.name,
            _typed(record.configuration),
            programs=programs,
            directory=directory,
            spawn=self._spawn,
        )
        try:
            slurm.start()
            blocks = SlurmBlocks(slurm)
            blocks.step(self._nodes_in_blocks(record))
            blocks.wait()
        except BaseException:
            slurm.stop()
            raise
        shell = HeadNodeShell(slurm, self._account)
        lost = LostNodes(slurm, FAULTS)
        return _Running(record, slurm, shell, SlurmClock(slurm, shell), blocks, lost)

    def _end_others(self) -> None:
        """End what does not belong to a cluster as it is now."""
        for name, running in list(self._running.items()):
            record = self._records.find(name)
            if running.is_of(record):
                continue
            del self._running[name]
            running.slurm.stop()
            has_gone = record is None or record.created != running.record.created
            directory = running.slurm.layout.directory
            # The home directory of a cluster remains; the queue and the nodes are others.
            remove_tree(directory if has_gone else directory / "state")


def _typed(value: Any) -> Any:
    """Return a configuration with its numbers and truth values, which CloudFormation sends as text.

    `_normalise_resource_properties` of ministack does the same as AWS.
    """
    if isinstance(value, Mapping):
        return {key: _typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_typed(each) for each in value]
    if value in ("true", "false"):
        return value == "true"
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _may_connect(record: Record) -> bool:
    policies: Sequence[Mapping[str, Any]] = (
        record.configuration["HeadNode"].get("Iam", {}).get("AdditionalIamPolicies", ())
    )
    return any(str(each["Policy"]).endswith(_POLICY) for each in policies)
