"""Processes that a killed engine left behind.

A Pulumi plugin checks every five minutes whether its engine exists
(`sdk/go/pulumi/provider/main.go`, `rpcutil.Healthcheck`); the sandbox's plugins check twice a
second. Until then the program and the operations of plugins continue, and a lookup may be
incomplete, so these processes are ended first. They are identified by an environment variable of
the engine.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from trainyard.stack_files.files import file_bytes
from trainyard.workspace.locks import StackLockedError

MARK = "TRAINYARD_ENGINE_OF"
"""Environment variable of all processes of an engine; identifies its stack."""
_ENGINE = "pulumi"
_POLL_SECONDS, _END_SECONDS = 0.05, 10.0
_PROC = Path("/proc")


def marked(environment: Mapping[str, str], *, directory: Path, stack: str) -> dict[str, str]:
    """Return the environment of an engine with the mark of its stack."""
    return {**environment, MARK: f"{directory}:{stack}"}


def end_leftovers(environment: Mapping[str, str], *, stack: str) -> list[int]:
    """End the processes that an engine of this stack left on this machine, and return their ids.

    Finds nothing on systems that do not show the environment of processes (no /proc).

    Raises:
        StackLockedError: the engine itself is running.
    """
    mark = environment.get(MARK)
    found = _processes(f"{MARK}={mark}".encode()) if mark else {}
    engines = [pid for pid, program in found.items() if program == _ENGINE]
    if engines:
        raise StackLockedError(
            f"another command uses stack {stack}: process {engines[0]}; wait until it ends, or "
            f"stop it with `kill -INT {engines[0]}`, and run this again"
        )
    for pid in found:
        _kill(pid)
    deadline = time.monotonic() + _END_SECONDS
    while any(_runs(pid) for pid in found) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return sorted(found)


def _runs(pid: int) -> bool:
    # A zombie process stays in /proc, without a command line, until its parent waits for it. In a
    # container without an init process that may be never.
    try:
        return bool(file_bytes(_PROC.joinpath(str(pid), "cmdline")))
    except OSError:
        return False


def _processes(mark: bytes) -> dict[int, str]:
    """Return id and program of the marked processes, except this one."""
    if not _PROC.joinpath("self/environ").exists():
        return {}
    found: dict[int, str] = {}
    for entry in _PROC.iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if mark in file_bytes(entry / "environ").split(b"\0"):
                command = file_bytes(entry / "cmdline").split(b"\0")[0]
                found[int(entry.name)] = Path(os.fsdecode(command)).name
        except OSError:  # it ended, or belongs to another user
            continue
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
