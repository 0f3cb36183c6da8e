"""The server: a Python process with every package imported, which forks a child for each client.

It has one thread, and opens no channel and no file, so that a fork copies only memory. It ends,
with all children, when its standard input is closed, which means that its parent has ended.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import selectors
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from tests.support.warm_python.client.sitecustomize import REFUSED, interpreter_of

ACCEPTED = b"\x01"
STREAMS = 3


@dataclass(frozen=True, slots=True)
class Job:
    """The request of a client."""

    wanted: dict[str, Any]
    streams: list[int]


@dataclass(slots=True)
class _Child:
    """A running child and its client."""

    pid: int
    ended: int
    """File descriptor of the process: readable when it has ended."""
    client: socket.socket


class Server:
    """Starts children, and reports their exit status to their clients.

    Args:
        listener: Socket to which clients connect.
    """

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._ready = selectors.DefaultSelector()
        self._ready.register(listener, selectors.EVENT_READ, None)
        self._ready.register(sys.stdin.fileno(), selectors.EVENT_READ, None)
        self._children: list[_Child] = []

    def next_job(self) -> Job | None:
        """Serve until the end and return None; in a forked child, return its job."""
        while True:
            for key, _ in self._ready.select():
                if key.fileobj is self._listener:
                    job = self._accept()
                    if job is not None:
                        return job
                elif key.data is None:
                    self._end()
                    return None
                elif key.data in self._children:
                    self._attend(key.data, ended=key.fd == key.data.ended)

    def _accept(self) -> Job | None:
        client, _ = self._listener.accept()
        job = _read(client)
        alike = job.wanted.get("interpreter") == interpreter_of()
        with contextlib.suppress(OSError):  # the client was killed
            client.sendall(ACCEPTED if alike else REFUSED)
        if not alike:
            _close(job.streams)
            client.close()
            return None
        pid = os.fork()
        if pid == 0:
            self._leave(client)
            return job
        _close(job.streams)
        child = _Child(pid, os.pidfd_open(pid), client)
        self._children.append(child)
        self._ready.register(child.ended, selectors.EVENT_READ, child)
        self._ready.register(client, selectors.EVENT_READ, child)
        return None

    def _leave(self, client: socket.socket) -> None:
        """Close the server's files in a child."""
        client.close()
        self._listener.close()
        self._ready.close()
        for child in self._children:
            child.client.close()
            os.close(child.ended)

    def _attend(self, child: _Child, *, ended: bool) -> None:
        if not ended:
            signals = _received(child.client)
            for number in signals or (signal.SIGKILL,):
                os.kill(child.pid, number)
            if not signals:
                self._ready.unregister(child.client)
            return
        _, status = os.waitpid(child.pid, 0)
        self._ready.unregister(child.ended)
        with contextlib.suppress(KeyError):
            self._ready.unregister(child.client)
        self._children.remove(child)
        os.close(child.ended)
        code = os.waitstatus_to_exitcode(status)
        with contextlib.suppress(OSError):  # the client was killed
            child.client.sendall(code.to_bytes(4, "little", signed=True))
        child.client.close()

    def _end(self) -> None:
        for child in self._children:
            os.kill(child.pid, signal.SIGKILL)


def _received(client: socket.socket) -> bytes:
    """Return the numbers of the signals that a client received; empty if it has ended."""
    try:
        return client.recv(64)
    except OSError:
        return b""


def _read(client: socket.socket) -> Job:
    """Return the request of a client; empty if it was killed before sending all of it."""
    head, streams, _, _ = socket.recv_fds(client, 8, STREAMS)
    length, content = int.from_bytes(head, "little"), bytearray()
    while len(content) < length and (part := client.recv(length - len(content))):
        content += part
    complete = 0 < length == len(content)
    return Job(marshal.loads(bytes(content)) if complete else {}, list(streams))


def _close(streams: list[int]) -> None:
    for stream in streams:
        os.close(stream)


def main(path: str) -> None:
    """Listen, import, and serve; in each child run its program."""
    from tests.support.warm_python.imports import import_all
    from tests.support.warm_python.program import run

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        listener.listen(64)
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        import_all()
        gc.collect()
        gc.freeze()
        job = Server(listener).next_job()
    if job is not None:
        run(job)


if __name__ == "__main__":
    main(sys.argv[1])
