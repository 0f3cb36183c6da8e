"""The official release of the engine: downloaded, verified, unpacked, or refused. No network."""

import hashlib
from pathlib import Path

import pytest

from tests.sandbox.engine.support.release_host import (
    ARCHIVE,
    ARCHIVE_PATH,
    RELEASE,
    ReleaseHost,
    archive,
    publish,
)
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.engine import download, pins
from trainyard.sandbox.engine.errors import RefusedDownloadError


@pytest.mark.usefixtures("commands")
def test_a_release_is_downloaded_verified_and_kept(
    cache: Path, release_host: ReleaseHost, told: list[str]
) -> None:
    publish(release_host, RELEASE)

    first = ensure_pulumi(told.append)
    release_host.files.clear()
    second = ensure_pulumi(told.append)

    assert first == second
    assert (first.origin, first.version) == ("download", pins.PULUMI_VERSION)
    assert first.executable.read_text() == "released pulumi"
    assert sorted(path.name for path in first.directory.iterdir()) == sorted(pins.PULUMI_FILES)
    assert not list(cache.rglob("*escaped*"))
    assert release_host.transfers(ARCHIVE) == 1


@pytest.mark.usefixtures("commands", "cache")
def test_what_is_kept_is_executable_whatever_the_archive_says(
    release_host: ReleaseHost, told: list[str]
) -> None:
    publish(release_host, RELEASE)

    directory = ensure_pulumi(told.append).directory

    assert {path.stat().st_mode & 0o777 for path in directory.iterdir()} == {0o755}


@pytest.mark.usefixtures("commands")
def test_refuses_a_release_with_another_checksum(
    cache: Path, release_host: ReleaseHost, told: list[str]
) -> None:
    publish(release_host, RELEASE, sha256="f" * 64)

    with pytest.raises(RefusedDownloadError) as refusal:
        ensure_pulumi(told.append)

    message = str(refusal.value)
    assert f"{release_host.address}/{ARCHIVE_PATH}" in message
    assert "f" * 64 in message
    assert hashlib.sha256(RELEASE).hexdigest() in message
    assert f"{download.MIRROR_VARIABLE}=off" in message
    assert not list(cache.rglob("pulumi*.tar.gz"))


@pytest.mark.usefixtures("commands", "cache")
def test_after_a_refused_release_the_right_one_is_taken(
    release_host: ReleaseHost, told: list[str]
) -> None:
    publish(release_host, RELEASE, sha256="f" * 64)
    with pytest.raises(RefusedDownloadError):
        ensure_pulumi(told.append)
    publish(release_host, RELEASE)

    assert ensure_pulumi(told.append).origin == "download"


@pytest.mark.usefixtures("commands", "cache")
def test_a_transfer_that_breaks_off_is_begun_again(
    release_host: ReleaseHost, told: list[str]
) -> None:
    publish(release_host, RELEASE)
    release_host.broken[ARCHIVE_PATH] = download.ATTEMPTS - 1

    engine = ensure_pulumi(told.append)

    assert engine.executable.read_text() == "released pulumi"
    assert release_host.transfers(ARCHIVE) == download.ATTEMPTS
    assert sum("once more" in line for line in told) == download.ATTEMPTS - 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(RELEASE[: len(RELEASE) // 2], "cannot be unpacked", id="truncated"),
        pytest.param(archive({"pulumi/pulumi": b"x"}), "lacks pulumi/pulumi-l", id="incomplete"),
        pytest.param(b"<html>", "cannot be unpacked", id="not-an-archive"),
    ],
)
@pytest.mark.usefixtures("commands")
def test_refuses_an_archive_that_cannot_be_used_though_its_checksum_is_right(
    cache: Path, release_host: ReleaseHost, told: list[str], content: bytes, words: str
) -> None:
    publish(release_host, content)

    with pytest.raises(RefusedDownloadError, match=words):
        ensure_pulumi(told.append)

    assert [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"] == []
