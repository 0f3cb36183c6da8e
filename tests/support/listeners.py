"""What processes listen on, as the kernel says (proc(5), `/proc/net/tcp` and `/proc/net/unix`)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import descendants

_LISTENS = "0A"
"""TCP_LISTEN in include/net/tcp_states.h of Linux."""
_ACCEPTS = "00010000"
"""`__SO_ACCEPTCON` in include/uapi/linux/net.h of Linux."""
_INODE = 6
"""Its column; the path is in the next one."""


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening socket."""

    command: str
    """Command line of its process."""
    address: str
    port: int

    @property
    def is_on_loopback(self) -> bool:
        """Whether only processes of this machine reach it."""
        return ipaddress.ip_address(self.address).is_loopback


def listeners(pid: int) -> list[Listener]:
    """Return the listening sockets of a process and its descendants."""
    sockets = dict(_listening())
    found = [
        Listener(command, *sockets[inode])
        for command, inodes in _opened(pid)
        for inode in inodes & sockets.keys()
    ]
    return sorted(found, key=lambda each: each.port)


def unix_listeners(pid: int) -> list[str]:
    """Return the Unix sockets on which a process and its descendants listen.

    One that has no file begins with `@`.
    """
    lines = Path("/proc/net/unix").read_text("utf-8").splitlines()[1:]
    fields = [line.split(maxsplit=_INODE + 1) for line in lines]
    sockets = {
        f"socket:[{each[_INODE]}]": each[_INODE + 1] for each in fields if each[3] == _ACCEPTS
    }
    return sorted(
        {sockets[inode] for _, inodes in _opened(pid) for inode in inodes & sockets.keys()}
    )


def _opened(pid: int) -> Iterator[tuple[str, set[str]]]:
    """Yield the command line and what is open of a process and its descendants."""
    for each in (pid, *descendants(pid)):
        with suppress(OSError):  # it has ended
            command = Path(f"/proc/{each}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            yield command, {str(path.readlink()) for path in Path(f"/proc/{each}/fd").iterdir()}


def _listening() -> Iterator[tuple[str, tuple[str, int]]]:
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text("utf-8").splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS:
                host, port = fields[1].split(":")
                yield f"socket:[{fields[9]}]", (_address(host), int(port, 16))


def _address(text: str) -> str:
    """Return an address that the kernel prints as 32-bit numbers in the order of this machine."""
    numbers = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8)]
    return str(ipaddress.ip_address(b"".join(numbers)))
