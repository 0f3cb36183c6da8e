"""A small Pulumi release, in the form in which its publisher hosts it."""

import hashlib
import io
import tarfile

from tests.support.release_host import ReleaseHost
from tools.engine import pins
from tools.engine.platforms import this_platform

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
