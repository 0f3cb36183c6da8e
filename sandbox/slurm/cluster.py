"""One Slurm: munged, slurmctld, and a slurmd for each node that is powered up."""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree
from trainyard.sandbox.slurm.configuration import (
    LOOPBACK,
    Layout,
    device_configuration,
    loopback_of_host,
    ranges_of,
    slurm_configuration,
)


def kill_programs(directory: Path, file: str = "") -> None:
    """Kill all programs of a Slurm: they have a variable with its configuration.

    Args:
        directory: The directory of the Slurm, or of several.
        file: Name of the configuration of a node, to kill only its programs.
    """
    mark = f"SLURM_CONF={directory}/{file}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            variables = (process / "environ").read_bytes().split(b"\0")
            if any(each.startswith(mark) for each in variables):
                os.kill(int(process.name), signal.SIGKILL)


def remove_slurm(directory: Path) -> None:
    """Kill all programs of a Slurm, or of several, and remove its directory."""
    kill_programs(directory)
    remove_tree(directory)


# One Slurm: munged, slurmctld, and a slurmd for each node that is powered up.
#
# Slurm powers nodes up and down with ResumeProgram and SuspendProgram, as in ParallelCluster, which
# make and remove a file for each node; a thread starts and ends the processes that the files name.


START_SECONDS = 30.0
_END_SECONDS = 5.0
_POLL_SECONDS = 0.05
_BOOT_SECONDS = 1.0
"""Time from the request of a node to its start. slurmctld waits for another start if a node seems
to have booted before the request; it compares whole seconds of two clocks, those of the day and of
the machine's uptime, so a start can seem a second earlier.
https://github.com/SchedMD/slurm/blob/slurm-22-05-8-1/src/slurmctld/node_mgr.c
(`waiting_for_node_boot`) and `src/slurmd/slurmd/get_mach_stat.c` (`get_up_time`)"""
_FIRST_PORT, _LAST_PORT = 20_000, 32_000
"""Below the ports that Linux gives to connections."""
_MOST_CHARACTERS = 24
"""Of the directory in which sockets are: 48 are left for the name of a node."""
_POWER = """\
#!/bin/sh
for node in $({scontrol} show hostnames "$1"); do {action}; done
"""


class SlurmError(RuntimeError):
    """Slurm does not start; the message says why."""


class SlurmCluster:
    """The Slurm of one cluster.

    Args:
        name: Name of the cluster.
        configuration: ParallelCluster's configuration of it.
        programs: Directory of Slurm, with `bin`, `sbin` and `lib`.
        directory: Directory of its files, which remain when it ends.
        spawn: Starts processes.
    """

    def __init__(
        self,
        name: str,
        configuration: Mapping[str, Any],
        *,
        programs: Path,
        directory: Path,
        spawn: Spawn,
    ) -> None:
        self.name = name
        self.configuration = configuration
        self._spawn = spawn
        ranges = ranges_of(configuration)
        self._nodes = [node for each in ranges for node in each.names]
        self._static = [
            name for e in ranges if e.static and e.capacity_block is None for name in e.names
        ]
        self.layout = Layout(
            programs=programs,
            directory=directory,
            sockets=_directory_of_sockets(),
            ports=_free_ports(1 + len(self._nodes)),
            loopback=loopback_of_host(),
        )
        self._daemons: list[subprocess.Popen[Any]] = []
        self._running: dict[str, subprocess.Popen[Any]] = {}
        self._ended = threading.Event()
        self._power = threading.Thread(target=self._follow_power, name=f"slurm {name}", daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a shell on the head node, which jobs inherit."""
        return {
            "PATH": f"{self.layout.programs / 'bin'}:{os.defpath}",
            "SLURM_CONF": str(self.layout.configuration),
            "TMPDIR": tempfile.gettempdir(),
        }

    def start(self) -> None:
        """Start the daemons and the static nodes; return when Slurm accepts jobs.

        Nodes in Capacity Blocks start with their instances (`trainyard.sandbox.slurm.blocks`).

        Raises:
            SlurmError: it does not start, or its nodes do not.
        """
        kill_programs(self.layout.directory)  # of a sandbox that was killed
        self._write()
        layout = self.layout
        key = layout.sockets / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        self._start("munged", *_munge_options(layout))
        self._until(layout.munge_socket.exists, "munged does not start")
        self._start("slurmctld", "-D", "-f", str(layout.configuration))
        self._until(self._answers, "slurmctld does not respond")
        self._power.start()
        self.power_up(self._static)
        self.wait_for(self._static)

    def power_up(self, nodes: Sequence[str]) -> None:
        """Start nodes, as clustermgtd of ParallelCluster starts static ones.

        Raises:
            SlurmError: Slurm does not know them.
        """
        if nodes:
            self.run("scontrol", "update", f"nodename={','.join(nodes)}", "state=power_up")

    def wait_for(self, nodes: Sequence[str]) -> None:
        """Wait until nodes are up.

        Raises:
            SlurmError: they do not start.
        """
        if nodes:
            names = ",".join(nodes)
            self._until(lambda: self._are_up(names), "the static nodes do not start")

    def lose(self, node: str) -> None:
        """End a node with its programs at once; it starts again while it is powered up."""
        if process := self._running.get(node):
            process.kill()
            process.wait()
        kill_programs(self.layout.directory, f"node-{self._nodes.index(node)}.conf")
        self._running.pop(node, None)

    def stop(self) -> None:
        """End all jobs and processes."""
        if self._power.is_alive():
            self._cancel_jobs()
        self._ended.set()
        if self._power.ident is not None:
            self._power.join()
        for process in [*self._running.values(), *reversed(self._daemons)]:
            _end(process)
        kill_programs(self.layout.directory)  # whose steps Slurm has already forgotten
        shutil.rmtree(self.layout.sockets, ignore_errors=True)

    def run(self, program: str, *arguments: str) -> str:
        """Run one of Slurm's commands and return its output.

        Raises:
            SlurmError: it fails.
        """
        done = self._command(program, *arguments)
        if done.returncode:
            raise SlurmError(f"{program} {shlex.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def _command(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.layout.programs / "bin" / program), *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def _write(self) -> None:
        layout = self.layout
        for directory in (layout.devices, layout.power, layout.directory / "state"):
            directory.mkdir(parents=True, exist_ok=True)
        for left in layout.power.iterdir():
            left.unlink()
        # Slurm only asks whether they are devices.
        for number in range(max((each.gpus for each in ranges_of(self.configuration)), default=0)):
            device = layout.devices / f"nvidia{number}"
            device.unlink(missing_ok=True)
            device.symlink_to(os.devnull)
        text = slurm_configuration(self.name, self.configuration, layout)
        layout.configuration.write_text(text, encoding="utf-8")
        devices = device_configuration(self.configuration, layout)
        (layout.directory / "gres.conf").write_text(devices, encoding="utf-8")
        # slurmd loads a plugin for cgroups also if nothing uses them; every version has this one.
        (layout.directory / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n", encoding="utf-8")
        power = shlex.quote(str(layout.power))
        for name, action in (("resume", "touch"), ("suspend", "rm -f")):
            program = layout.directory / name
            scontrol = f"SLURM_CONF={shlex.quote(str(layout.configuration))} " + shlex.quote(
                str(layout.programs / "bin" / "scontrol")
            )
            script = _POWER.format(scontrol=scontrol, action=f'{action} {power}/"$node"')
            program.write_text(script, encoding="utf-8")
            program.chmod(0o700)

    def _start(self, program: str, *arguments: str) -> None:
        command = [str(self.layout.programs / "sbin" / program), *arguments]
        self._daemons.append(self._launch(command, program))

    def _launch(self, command: list[str], name: str) -> subprocess.Popen[Any]:
        log = self.layout.directory / f"{name}.output"
        return self._spawn(command, name=f"slurm-{self.name}-{name}", log_path=log)

    def _follow_power(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            wanted = {path.name: _age(path) for path in self.layout.power.iterdir()}
            for node, seconds in wanted.items():
                if node not in self._running and seconds >= _BOOT_SECONDS:
                    self._running[node] = self._launch(self._slurmd(node), node)
            for node in self._running.keys() - wanted.keys():
                if process := self._running.pop(node, None):  # else it has just been lost
                    _end(process)

    def _slurmd(self, node: str) -> list[str]:
        """Return the command of a node, whose spool directory has a short name."""
        number, layout = self._nodes.index(node), self.layout
        configuration = layout.directory / f"node-{number}.conf"
        spool = layout.sockets / str(number)
        configuration.write_text(
            f"include {layout.configuration}\nSlurmdSpoolDir={spool}\n", encoding="utf-8"
        )
        sbin = layout.programs / "sbin"
        stepd = str(sbin / "slurmstepd")
        slurmd = [str(sbin / "slurmd"), "-D", "-b", "-N", node]
        return [*slurmd, "-d", stepd, "-f", str(configuration)]

    def _answers(self) -> bool:
        return self._command("scontrol", "ping").returncode == 0

    def _are_up(self, nodes: str) -> bool:
        states = self.run("sinfo", "-hN", f"--nodes={nodes}", "--format=%T").split()
        return bool(states) and set(states) <= {"idle", "mixed", "allocated"}

    def _cancel_jobs(self) -> None:
        """End the jobs: a program outlives the slurmd that started it, and may ignore SIGTERM."""
        self._command("scancel", f"--user={os.getuid()}")
        deadline = time.monotonic() + _END_SECONDS
        while self._command("squeue", "--noheader").stdout.strip() and time.monotonic() < deadline:
            kill_programs(self.layout.directory)
            time.sleep(_POLL_SECONDS)

    def _until(self, is_done: Any, otherwise: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_done():
            dead = [each for each in self._daemons if each.poll() is not None]
            if dead or time.monotonic() > deadline:
                raise SlurmError(f"{otherwise}; its logs are in {self.layout.directory}")
            time.sleep(_POLL_SECONDS)


def _munge_options(layout: Layout) -> Iterator[str]:
    yield "--foreground"
    # munged opens its socket to everybody and refuses a directory that others cannot enter. Here
    # it serves one user (munged(8), --force).
    yield "--force"
    yield f"--key-file={layout.sockets / 'key'}"
    yield f"--socket={layout.munge_socket}"
    yield f"--pid-file={layout.sockets / 'munged.pid'}"
    yield f"--log-file={layout.directory / 'munged.log'}"
    yield f"--seed-file={layout.sockets / 'munge.seed'}"


def _age(path: Path) -> float:
    """Return the seconds since a file was made; 0 if it has just been removed."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _directory_of_sockets() -> Path:
    """Make a directory for sockets: in `TMPDIR` if they can be there, else in `/tmp`.

    The path of a socket has at most 107 bytes (https://man7.org/linux/man-pages/man7/unix.7.html),
    at the end those of a node and a job step. Only this user can enter the directory.
    """
    given = Path(tempfile.gettempdir())
    usable = len(str(given)) <= _MOST_CHARACTERS
    place = given if usable else "/tmp"  # noqa: S108 - with a name of its own below it
    return Path(tempfile.mkdtemp(prefix="slurm-", dir=place))


def _free_ports(count: int) -> list[int]:
    """Return ports that are free now; a random start keeps several sandboxes apart."""
    found: list[int] = []
    port = _FIRST_PORT + secrets.randbelow((_LAST_PORT - _FIRST_PORT) // 2)
    while len(found) < count and port < _LAST_PORT:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)):
                found.append(port)
        port += 1
    return found
