"""Processes that an engine left behind when it was killed.

A plugin of Pulumi's asks every five minutes whether its engine is there
(`sdk/go/pulumi/provider/main.go`, `rpcutil.Healthcheck`), the sandbox's look twice a second; the
program, and what a plugin began, go on meanwhile. What is looked up while they run may not be all,
so they are ended first. They are known by a variable that the engine was started with.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from tools.workspace.locks import StackLockedError

MARK = "TRAINYARD_ENGINE_OF"
"""Variable that every process of an engine of ours has: whose stack it works on."""
_ENGINE = "pulumi"
_POLL_SECONDS, _END_SECONDS = 0.05, 10.0
_PROC = Path("/proc")


def marked(environment: Mapping[str, str], *, directory: Path, stack: str) -> dict[str, str]:
    """Return the environment of an engine with the mark of its stack."""
    return {**environment, MARK: f"{directory}:{stack}"}


def end_leftovers(environment: Mapping[str, str], *, stack: str) -> list[int]:
    """End what an engine of this stack left behind on this machine, and return the process ids.

    Nothing is found where the system does not show the environment of processes (it has no /proc).

    Raises:
        StackLockedError: the engine itself runs.
    """
    mark = environment.get(MARK)
    found = _processes(f"{MARK}={mark}".encode()) if mark else {}
    engines = [pid for pid, program in found.items() if program == _ENGINE]
    if engines:
        raise StackLockedError(
            f"another command works on stack {stack}: process {engines[0]}; wait until it ends, or "
            f"stop it with `kill -INT {engines[0]}`, and run this again"
        )
    for pid in found:
        _kill(pid)
    deadline = time.monotonic() + _END_SECONDS
    while any(_runs(pid) for pid in found) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return sorted(found)


def _runs(pid: int) -> bool:
    # A process that has ended stays in /proc, without a command line, until its parent looks; in a
    # container without an init process that may be never.
    try:
        return bool(_PROC.joinpath(str(pid), "cmdline").read_bytes())
    except OSError:
        return False


def _processes(mark: bytes) -> dict[int, str]:
    """Return the marked processes but this one: id and program."""
    if not _PROC.joinpath("self/environ").exists():
        return {}
    found: dict[int, str] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().split(b"\0")[0]
                found[int(entry.name)] = Path(os.fsdecode(command)).name
        except OSError:  # it ended, or it is somebody else's
            continue
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
