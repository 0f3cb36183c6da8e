"""Proxies of the sandbox that answer `CONNECT host:port`."""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
from typing import ClassVar

BUFFER_BYTES = 65536
_SECONDS = 30.0
"""Timeout for idle connections."""


class Connection(socketserver.StreamRequestHandler):
    """A client connection; the first line is `CONNECT host:port HTTP/1.1`."""

    timeout: ClassVar[float | None] = _SECONDS

    def handle(self) -> None:
        """Handle one CONNECT."""
        with contextlib.suppress(OSError):
            method, target, *_ = [*self.rfile.readline().decode("latin-1").split(), "", ""]
            while self.rfile.readline().strip():
                pass
            host, _, port = target.rpartition(":")
            if method != "CONNECT" or not port.isdecimal():
                self.answer("405 Method Not Allowed")
            else:
                self.connect(host.strip("[]"), int(port))

    def connect(self, host: str, port: int) -> None:
        """Connect the client, or refuse it."""
        raise NotImplementedError

    def answer(self, status: str) -> None:
        """Answer the CONNECT with a status line."""
        self.wfile.write(f"HTTP/1.1 {status}\r\n\r\n".encode())

    def accept(self) -> None:
        """Answer that the connection exists."""
        self.answer("200 Connection established")

    def pass_on(self, host: str, port: int) -> None:
        """Connect the client with an address, until one of both ends the connection."""
        try:
            there = socket.create_connection((host, port), _SECONDS)
        except OSError:
            self.answer("502 Bad Gateway")
            return
        with there:
            self.accept()
            ends = {self.connection: there, there: self.connection}
            while ready := select.select(list(ends), [], [], _SECONDS)[0]:
                for end in ready:
                    sent = end.recv(BUFFER_BYTES)
                    if not sent:
                        return
                    ends[end].sendall(sent)
