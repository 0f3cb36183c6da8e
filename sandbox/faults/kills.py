"""Kinds of fault that kill the process that makes a call, with `kill -9`.

Without `pid` this is the engine: the nearest ancestor named `pulumi` of the process at the other
end of the connection. The plugin that made the call is killed with it. A real plugin continues for
up to five minutes without its engine (`pulumi/pulumi`, sdk/go/common/util/rpcutil/healthcheck.go)
and would retry a call without a response, so the number of processed requests would be
unpredictable.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.sandbox.faults.connections import NoAnswer

if TYPE_CHECKING:
    from trainyard.sandbox.faults.fault import Fault
    from trainyard.sandbox.faults.kind import Request

ENGINE = "pulumi"


class EngineKilled(NoAnswer):
    """The engine is killed before the request is processed."""

    name = "engine-killed"
    summary = "kill -9 of the engine that drives the call, before the work"
    keys = frozenset({"pid"})

    def happen_besides(self, fault: Fault, request: Request) -> None:
        """Kill the engine."""
        kill(fault, request.environ)


class EngineKilledAfter(EngineKilled):
    """The engine is killed after the request is processed."""

    name = "engine-killed-after"
    summary = "kill -9 of the engine that drives the call, after the work, before the answer"
    work_is_done = True


def kill(fault: Fault, environ: dict[str, Any]) -> None:
    """Kill the process in the schedule, or the client of a request and its engine."""
    if fault.pid is not None:
        _kill(fault.pid)
        return
    caller = caller_of(environ)
    engine = engine_of(caller)
    # The engine first, so that it does not see its plugin end.
    for pid in (engine, caller if engine is not None else None):
        if pid is not None:
            _kill(pid)


def caller_of(environ: dict[str, Any]) -> int | None:
    """Return the process at the other end of a request's connection (`/proc`, Linux)."""
    inode = _inode(int(environ.get("REMOTE_PORT") or 0), int(environ.get("SERVER_PORT") or 0))
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for directory in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if any(str(entry.readlink()) == wanted for entry in directory.iterdir()):
                return int(directory.parent.name)
    return None


def engine_of(pid: int | None) -> int | None:
    """Return the nearest engine among a process and its ancestors."""
    while pid is not None and pid > 1:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        except OSError:
            return None
        # proc(5): the name in parentheses may contain parentheses; state and parent follow.
        name, _, rest = stat.partition("(")[2].rpartition(")")
        if name == ENGINE:
            return pid
        pid = int(rest.split()[1])
    return None


def _inode(client_port: int, server_port: int) -> str | None:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text(encoding="utf-8").splitlines()[1:]:
                fields = line.split()
                ports = [int(fields[index].rpartition(":")[2], 16) for index in (1, 2)]
                if ports == [client_port, server_port]:
                    return fields[9]
    return None


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
