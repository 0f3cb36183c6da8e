"""Download releases from their publishers, and verify each file against the published checksum."""

import hashlib
import http.client
import os
import tarfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Collection
from pathlib import Path
from typing import IO

from trainyard.sandbox.engine.errors import DownloadUnavailableError, RefusedDownloadError
from trainyard.sandbox.engine.progress import Heartbeat, Progress

TIMEOUT_SECONDS = 10.0
"""Timeout for a connection, and for the next bytes.

Long enough for a slow link, short enough that a network without egress costs only seconds.
"""

ATTEMPTS = 3
"""Maximum number of attempts for a transfer that is interrupted."""

MIRROR_VARIABLE = "TRAINYARD_RELEASE_MIRROR"
"""Environment variable with the base address of a mirror, or ``off`` to disable downloads.

A mirror holds each file under its publisher's host name and path:
``$TRAINYARD_RELEASE_MIRROR/dl.k8s.io/v1.35.4/bin/linux/amd64/kubectl``.
"""

_CHUNK_BYTES = 1 << 20

_unreachable: dict[str, str] = {}
"""Why a host cannot be reached, by address; determined once per process."""


class Releases:
    """Downloads release files and rejects those whose checksum differs from the published one."""

    def __init__(self, report: Progress) -> None:
        self._report = report
        self._mirror = os.environ.get(MIRROR_VARIABLE, "").rstrip("/")

    def text(self, url: str) -> str:
        """Return a small text file, such as a list of checksums.

        Raises:
            DownloadUnavailableError: it cannot be had.
        """
        with self._open(url) as response:
            try:
                return response.read(_CHUNK_BYTES).decode("utf-8", errors="replace")
            except (OSError, http.client.HTTPException) as error:
                raise DownloadUnavailableError(f"{url} broke off: {error}") from error

    def reachable(self, directory: str, file_name: str) -> str:
        """Return the address of a directory from which the file can be downloaded.

        Raises:
            DownloadUnavailableError: it cannot be had.
        """
        self._open(f"{directory}/{file_name}").close()
        return self._address(directory)

    def file(self, url: str, target: Path, sha256: str) -> None:
        """Download ``url`` to ``target``; an interrupted transfer is restarted.

        Raises:
            DownloadUnavailableError: it cannot be had.
            RefusedDownloadError: its SHA-256 is not ``sha256``; ``target`` does not exist.
        """
        found = self._transfer_stubbornly(url, target)
        if found != sha256:
            target.unlink()
            raise RefusedDownloadError(
                f"{self._address(url)} is not what its publisher released: its SHA-256 is {found}, "
                f"the published one is {sha256}. The file was deleted. Run the same command again; "
                "if it stays so, something between here and the publisher changes the file. "
                f"{MIRROR_VARIABLE}=off goes another way: it builds the same version from source"
            )

    def _transfer_stubbornly(self, url: str, target: Path) -> str:
        for left in reversed(range(ATTEMPTS)):
            try:
                return self._transfer(url, target)
            except (OSError, http.client.HTTPException) as error:
                if not left:
                    raise DownloadUnavailableError(
                        f"{self._address(url)} broke off {ATTEMPTS} times: {error}"
                    ) from error
                self._report(f"{url} broke off ({error}): once more")
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _transfer(self, url: str, target: Path) -> str:
        """Write ``url`` to ``target`` and return its SHA-256."""
        digest = hashlib.sha256()
        with self._open(url) as response, target.open("wb") as output:
            length = int(response.headers.get("Content-Length") or 0)
            size = f"{length / 1e6:.0f} MB, " if length else ""
            heartbeat = Heartbeat(self._report, f"downloading {url}", f"{size}a minute or two")
            received = 0
            while chunk := response.read(_CHUNK_BYTES):
                output.write(chunk)
                digest.update(chunk)
                received += len(chunk)
                heartbeat.beat(f"{received / 1e6:.0f} MB")
        if length and received != length:
            raise ConnectionError(f"{received} of {length} bytes came")
        heartbeat.done()
        return digest.hexdigest()

    def _open(self, url: str) -> http.client.HTTPResponse:
        self._check_mirror()
        address = self._address(url)
        host = urllib.parse.urlsplit(address).netloc
        if host in _unreachable:
            raise DownloadUnavailableError(_unreachable[host])
        try:
            # The scheme is https, or that of the user's own mirror.
            return urllib.request.urlopen(address, timeout=TIMEOUT_SECONDS)  # noqa: S310
        except urllib.error.HTTPError as error:
            error.close()
            raise DownloadUnavailableError(
                f"{address} is answered with {error.code} {error.reason}"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            _unreachable[host] = f"{host} cannot be reached: {reason}"
            raise DownloadUnavailableError(_unreachable[host]) from error

    def _check_mirror(self) -> None:
        if self._mirror == "off":
            raise DownloadUnavailableError(f"downloads are switched off ({MIRROR_VARIABLE}=off)")
        if self._mirror and not self._mirror.startswith(("https://", "http://")):
            raise DownloadUnavailableError(
                f"{MIRROR_VARIABLE} is {self._mirror!r}; it must be an address that begins with "
                "https:// or http://, or off"
            )

    def _address(self, url: str) -> str:
        if not self._mirror:
            return url
        parts = urllib.parse.urlsplit(url)
        return f"{self._mirror}/{parts.netloc}{parts.path}"


def listed_checksum(checksums: str, file_name: str, source: str) -> str:
    """Return the SHA-256 of ``file_name`` in a list as ``sha256sum`` writes it.

    Raises:
        DownloadUnavailableError: the list does not name the file, for example because a proxy
            returned its own page.
    """
    for line in checksums.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[1].lstrip("*") == file_name:
            return fields[0].lower()
    raise DownloadUnavailableError(f"{source} has no checksum of {file_name}")


def extract(archive: Path, members: Collection[str], target: Path) -> None:
    """Extract files from a ``.tar.gz``: each of ``members`` becomes ``target/<its last part>``.

    Only these files are written, under names chosen here, so an archive cannot write outside
    ``target``.

    Raises:
        RefusedDownloadError: the archive cannot be read, or lacks one of them.
    """
    wanted = set(members)
    try:
        with tarfile.open(archive, "r:gz") as opened:
            for member in opened:
                content = opened.extractfile(member) if member.name in wanted else None
                if content is not None:
                    _write(content, target / Path(member.name).name)
                    wanted.discard(member.name)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise RefusedDownloadError(f"{archive.name} cannot be unpacked: {error}") from error
    if wanted:
        raise RefusedDownloadError(f"{archive.name} lacks {', '.join(sorted(wanted))}")


def _write(content: IO[bytes], path: Path) -> None:
    with path.open("wb") as output:
        while chunk := content.read(_CHUNK_BYTES):
            output.write(chunk)
    path.chmod(0o755)
