"""What another user of this machine tries, in a process of that user.

`tests.support.stranger` passes this text to a Python of the system, which has only its standard
library: it reads questions from standard input, and prints an answer for each.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import sys
from contextlib import suppress
from urllib.parse import urlsplit

SECONDS = 60


def opened(path: str) -> bool:
    """Return whether a file or directory can be read or written."""
    with suppress(OSError):
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        return True
    return os.access(path, os.W_OK)


def connected(path: str) -> bool:
    """Return whether a Unix socket accepts a connection; a name with `@` has no file."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(SECONDS)
        try:
            client.connect("\0" + path[1:] if path.startswith("@") else path)
        except PermissionError:
            return False
    return True


def answered(url: str, method: str, path: str, headers: dict[str, str], body: str) -> int | str:
    """Return the status of an HTTP response, or how the connection ended without one."""
    parts = urlsplit(url)
    host, port = str(parts.hostname), parts.port
    if parts.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=SECONDS, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request(method, path, body or None, headers)
        return connection.getresponse().status
    except ssl.SSLError:
        return "TLS alert"
    except (ConnectionResetError, BrokenPipeError):
        return "closed"
    finally:
        connection.close()


def main() -> None:
    """Answer the questions, each of which has a kind and arguments."""
    kinds = {"opened": opened, "connected": connected, "answered": answered}
    assert 0 not in os.getresuid()
    print(json.dumps([kinds[kind](*given) for kind, *given in json.load(sys.stdin)]))  # noqa: T201


if __name__ == "__main__":
    main()
