"""A server on the loopback interface that replaces the hosts of official releases."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from trainyard.sandbox.engine import pins
from trainyard.sandbox.engine.platforms import this_platform


@dataclass
class ReleaseHost:
    """Serves files by their publisher's host and path, and counts the requests."""

    files: dict[str, bytes] = field(default_factory=dict)
    """Contents by ``host/path``."""
    broken: dict[str, int] = field(default_factory=dict)
    """How many of the next transfers of a file break off."""
    asked: list[str] = field(default_factory=list)
    address: str = ""

    def transfers(self, ending: str) -> int:
        return sum(path.endswith(ending) for path in self.asked)


@contextlib.contextmanager
def serving() -> Iterator[ReleaseHost]:
    """Serve an empty host until the block ends."""
    host = ReleaseHost()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.lstrip("/")
            host.asked.append(path)
            content = host.files.get(path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if host.broken.get(path, 0):
                host.broken[path] -= 1
                content = content[: len(content) // 2]
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
            """Keep the test's output clean."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    host.address = f"http://127.0.0.1:{server.server_port}"
    yield host
    server.shutdown()
    server.server_close()
    thread.join()


ARCHIVE = f"pulumi-v{pins.PULUMI_VERSION}-{this_platform().pulumi_name}.tar.gz"
ARCHIVE_PATH = f"get.pulumi.com/releases/sdk/{ARCHIVE}"
CHECKSUMS_PATH = pins.PULUMI_CHECKSUMS_URL.removeprefix("https://")


def archive(members: dict[str, bytes]) -> bytes:
    """Return a .tar.gz of plain files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


RELEASE = archive(
    {f"pulumi/{name}": f"released {name}".encode() for name in pins.PULUMI_FILES}
    | {"pulumi/pulumi-language-nodejs": b"another language", "../../escaped": b"evil"}
)


def publish(host: ReleaseHost, content: bytes, sha256: str | None = None) -> None:
    """Put a release on the host, by default with the checksum of its content."""
    digest = sha256 or hashlib.sha256(content).hexdigest()
    host.files[ARCHIVE_PATH] = content
    host.files[CHECKSUMS_PATH] = f"{'0' * 64}  other.tar.gz\n{digest}  {ARCHIVE}\n".encode()
