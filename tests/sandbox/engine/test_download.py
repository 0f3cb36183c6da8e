"""Single files of releases: their sources, and refusals. No network."""

from pathlib import Path

import pytest

from tests.sandbox.engine.support.release_host import ReleaseHost, archive
from trainyard.sandbox.engine import download
from trainyard.sandbox.engine.download import Releases, extract, listed_checksum
from trainyard.sandbox.engine.errors import DownloadUnavailableError, RefusedDownloadError


@pytest.mark.parametrize("mode", [" ", " *"], ids=["text", "binary"])
def test_a_checksum_is_found_by_the_whole_name_of_its_file(mode: str) -> None:
    listed = f"{'a' * 64} {mode}one.tar.gz.sig\n{'B' * 64} {mode}one.tar.gz\n"

    assert listed_checksum(listed, "one.tar.gz", "here") == "b" * 64
    with pytest.raises(DownloadUnavailableError, match=r"here has no checksum of tar\.gz"):
        listed_checksum(listed, "tar.gz", "here")


def test_only_what_is_asked_for_leaves_an_archive(tmp_path: Path) -> None:
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(archive({"a/wanted": b"1", "a/other": b"2", "../outside": b"3"}))
    target = tmp_path / "in" / "target"
    target.mkdir(parents=True)

    extract(packed, ["a/wanted"], target)

    assert [path.name for path in target.iterdir()] == ["wanted"]
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["target"]


def test_even_a_member_that_points_outside_stays_inside_when_asked_for(tmp_path: Path) -> None:
    packed = tmp_path / "packed.tar.gz"
    packed.write_bytes(archive({"../../outside": b"3"}))
    target = tmp_path / "in" / "target"
    target.mkdir(parents=True)

    extract(packed, ["../../outside"], target)

    assert (target / "outside").read_bytes() == b"3"
    assert not (tmp_path / "outside").exists()


def test_a_mirror_is_asked_for_the_publishers_host_and_path(release_host: ReleaseHost) -> None:
    release_host.files["example.com/v1/sums"] = b"text"

    assert Releases(print).text("https://example.com/v1/sums") == "text"
    assert release_host.asked == ["example.com/v1/sums"]


def test_a_file_that_always_breaks_off_cannot_be_had(
    release_host: ReleaseHost, tmp_path: Path, told: list[str]
) -> None:
    release_host.files["example.com/big"] = b"x" * 1000
    release_host.broken["example.com/big"] = download.ATTEMPTS

    with pytest.raises(DownloadUnavailableError, match="broke off 3 times: 500 of 1000 bytes came"):
        Releases(told.append).file("https://example.com/big", tmp_path / "big", "0" * 64)


def test_a_file_with_another_checksum_is_deleted(
    release_host: ReleaseHost, tmp_path: Path, told: list[str]
) -> None:
    release_host.files["example.com/big"] = b"changed on the way"

    with pytest.raises(RefusedDownloadError):
        Releases(told.append).file("https://example.com/big", tmp_path / "big", "0" * 64)

    assert not (tmp_path / "big").exists()


def test_downloads_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(download.MIRROR_VARIABLE, "off")

    with pytest.raises(DownloadUnavailableError, match="TRAINYARD_RELEASE_MIRROR=off"):
        Releases(print).text("https://example.com/v1/sums")


def test_a_mirror_that_is_no_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(download.MIRROR_VARIABLE, "mirror.example.com")

    with pytest.raises(DownloadUnavailableError, match="TRAINYARD_RELEASE_MIRROR is 'mirror"):
        Releases(print).text("https://example.com/v1/sums")
