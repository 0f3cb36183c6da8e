"""Child processes of the daemon, which end with it even if it is killed.

A thread that lives as long as the daemon starts each process (see
`trainyard.sandbox.die_with_parent`). Each process has a file with its identity, with which the next
daemon ends leftover processes on systems that cannot tie a child to its parent.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from trainyard.sandbox.process_identity import (
    ProcessIdentity,
    identity_of,
    read_identity,
    write_identity,
)

_WRAPPER = Path(__file__).with_name("die_with_parent.py")
_GRACE_SECONDS = 10.0
_POLL_SECONDS = 0.05


def requests_to_end() -> queue.SimpleQueue[int]:
    """Return a queue that receives SIGINT and SIGTERM from now on, instead of their defaults.

    A handler may interrupt another one, so it must not take a lock, as that of a `threading.Event`
    does. https://docs.python.org/3.11/library/queue.html#queue.SimpleQueue.put
    """
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: signals.put(received))
    return signals


class Spawn(Protocol):
    """Starts a process that ends with the sandbox."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        name: str,
        log_path: Path,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[Any]:
        """Start `argv` with its output in `log_path`; `name` is for messages."""
        ...


@dataclass(frozen=True)
class _Order:
    argv: list[str]
    log_path: Path
    environment: dict[str, str]
    answer: Future[subprocess.Popen[bytes]]


class Spawner:
    """Starts processes and ends all of them.

    Args:
        directory: Directory of the process identity files.
        grace_seconds: Time to end after SIGTERM, before SIGKILL.
    """

    def __init__(self, directory: Path, grace_seconds: float = _GRACE_SECONDS) -> None:
        self._grace_seconds = grace_seconds
        self._directory = directory
        self._directory.mkdir(parents=True, exist_ok=True)
        self._orders: queue.SimpleQueue[_Order | None] = queue.SimpleQueue()
        self._children: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="spawner", daemon=True)
        self._thread.start()

    def spawn(
        self,
        argv: Sequence[str],
        *,
        name: str,
        log_path: Path,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a process that ends with this one.

        Args:
            argv: Program and arguments.
            name: Name for messages and for the identity file; unique among running processes.
            log_path: File to which its output is appended; its directory exists.
            env: Variables in addition to those of this process.

        Raises:
            OSError: The log cannot be opened.
        """
        answer: Future[subprocess.Popen[bytes]] = Future()
        environment = {**os.environ, **(env or {})}
        self._orders.put(_Order(list(argv), log_path, environment, answer))
        process = answer.result()
        with self._lock:
            self._forget_ended()
            self._remember(name, process)
        return process

    def stop_all(self) -> None:
        """End all processes: SIGTERM, then SIGKILL after ten seconds. No more can start."""
        with self._lock:
            children = dict(self._children)
            self._children.clear()
        for child in children.values():
            child.terminate()
        deadline = time.monotonic() + self._grace_seconds
        for child in children.values():
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        for path in children:
            path.unlink(missing_ok=True)
        self._orders.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            try:
                with order.log_path.open("ab") as log:
                    process = subprocess.Popen(
                        [sys.executable, "-I", "-S", str(_WRAPPER), str(os.getpid()), *order.argv],
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=subprocess.STDOUT,
                        env=order.environment,
                    )
            except BaseException as error:
                order.answer.set_exception(error)
            else:
                order.answer.set_result(process)

    def _forget_ended(self) -> None:
        for path in [path for path, child in self._children.items() if child.poll() is not None]:
            del self._children[path]
            path.unlink(missing_ok=True)

    def _remember(self, name: str, process: subprocess.Popen[bytes]) -> None:
        path = self._directory / f"{name}.json"
        self._children[path] = process
        try:
            write_identity(identity_of(process.pid), path)
        except ProcessLookupError:  # it ended immediately
            return


def sweep(directory: Path) -> list[str]:
    """End the processes that an earlier daemon left, and remove their files.

    Args:
        directory: The directory of that daemon's `Spawner`.

    Returns:
        Names of the processes that were still alive.
    """
    ended: list[ProcessIdentity] = []
    names: list[str] = []
    for path in sorted(directory.glob("*.json")):
        identity = read_identity(path)
        if identity is not None and identity.send(signal.SIGKILL):
            ended.append(identity)
            names.append(path.stem)
        path.unlink(missing_ok=True)
    deadline = time.monotonic() + _GRACE_SECONDS
    while any(identity.is_alive for identity in ended) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return names
