"""Sources of the engine: the PATH, the cache, a release, or a build. No network."""

import re
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sandbox.engine.support.release_host import (
    ARCHIVE_PATH,
    CHECKSUMS_PATH,
    RELEASE,
    ReleaseHost,
    publish,
)
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.engine import EngineError, download, pins

Commands = Callable[[str, str], Path]


def a_pulumi(commands: Commands, version: str, files: tuple[str, ...]) -> Path:
    path = commands("pulumi", f"echo v{version}")
    for name in files:
        commands(name, ":")
    return path.parent


@pytest.mark.usefixtures("cache", "release_host")
def test_the_users_engine_of_the_right_version_is_used(commands: Commands, told: list[str]) -> None:
    directory = a_pulumi(commands, pins.PULUMI_VERSION, pins.PULUMI_FILES[1:])

    engine = ensure_pulumi(told.append)

    assert (engine.origin, engine.directory, engine.version) == (
        "path",
        directory,
        pins.PULUMI_VERSION,
    )
    assert told == []


@pytest.mark.usefixtures("cache", "release_host")
def test_a_link_on_the_path_leads_to_the_files_beside_the_real_command(
    commands: Commands, tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = a_pulumi(commands, pins.PULUMI_VERSION, pins.PULUMI_FILES[1:])
    linked = tmp_path / "bin"
    linked.mkdir()
    (linked / "pulumi").symlink_to(directory / "pulumi")
    monkeypatch.setenv("PATH", str(linked))

    assert ensure_pulumi(told.append).directory == directory


@pytest.mark.parametrize(
    ("version", "files", "words"),
    [
        pytest.param("3.1.0", pins.PULUMI_FILES[1:], "is 3.1.0, this program needs", id="version"),
        pytest.param(pins.PULUMI_VERSION, (), "no language host for Python", id="host"),
    ],
)
@pytest.mark.usefixtures("cache")
def test_another_engine_on_the_path_is_named_in_one_line_and_left_alone(
    commands: Commands,
    release_host: ReleaseHost,
    told: list[str],
    version: str,
    files: tuple[str, ...],
    words: str,
) -> None:
    directory = a_pulumi(commands, version, files)
    before = {path: path.read_bytes() for path in directory.iterdir()}
    publish(release_host, RELEASE)

    engine = ensure_pulumi(told.append)

    assert engine.origin == "download"
    assert [line for line in told if words in line and "yours stays as it is" in line] == told[:1]
    assert {path: path.read_bytes() for path in directory.iterdir()} == before


@pytest.mark.usefixtures("cache", "release_host")
def test_the_users_engine_is_asked_without_their_home(
    commands: Commands, tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "mine"))
    asked = tmp_path / "asked"
    commands("pulumi", f'echo "$PULUMI_HOME" > {asked}; echo v{pins.PULUMI_VERSION}')
    for name in pins.PULUMI_FILES[1:]:
        commands(name, ":")

    ensure_pulumi(told.append)

    assert asked.read_text().strip() not in {"", str(tmp_path / "mine")}


@pytest.mark.parametrize("missing", [ARCHIVE_PATH, CHECKSUMS_PATH])
@pytest.mark.usefixtures("commands", "cache")
def test_fails_with_both_reasons_where_neither_a_release_nor_go_is_there(
    release_host: ReleaseHost, told: list[str], missing: str
) -> None:
    publish(release_host, RELEASE)
    del release_host.files[missing]

    with pytest.raises(EngineError) as failure:
        ensure_pulumi(told.append)

    message = str(failure.value)
    assert "can be had in neither way" in message
    assert f"{missing} is answered with 404" in message
    assert f"Go is not on the PATH; install Go {pins.GO_MINIMUM_VERSION} or newer" in message
    assert f"install Pulumi {pins.PULUMI_VERSION} yourself" in message


@pytest.mark.usefixtures("commands", "cache")
def test_a_page_of_a_proxy_is_not_taken_for_a_list_of_checksums(
    release_host: ReleaseHost, told: list[str]
) -> None:
    publish(release_host, RELEASE)
    release_host.files[CHECKSUMS_PATH] = b"<html>please log in</html>"

    with pytest.raises(EngineError, match="has no checksum of"):
        ensure_pulumi(told.append)


@pytest.mark.usefixtures("cache")
def test_fails_where_go_is_too_old(
    commands: Commands, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(download.MIRROR_VARIABLE, "off")
    go = commands("go", "echo go1.19.8")

    with pytest.raises(EngineError) as failure:
        ensure_pulumi(told.append)

    message = str(failure.value)
    assert f"the Go at {go} is too old or does not work (go1.19.8)" in message
    assert "downloads are switched off" in message


@pytest.mark.usefixtures("cache")
def test_fails_with_the_end_of_the_compilers_output(
    commands: Commands, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(download.MIRROR_VARIABLE, "off")
    commands("go", 'if [ "$1" = env ]; then echo go1.26.8; else echo no space >&2; exit 1; fi')

    with pytest.raises(EngineError, match="building pulumi failed:\nno space"):
        ensure_pulumi(told.append)


def test_a_build_is_kept_and_redone_when_a_file_of_it_is_gone(
    cache: Path, fake_go: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(download.MIRROR_VARIABLE, "off")
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")

    first = ensure_pulumi(told.append)
    kept = ensure_pulumi(told.append)
    first.executable.unlink()
    again = ensure_pulumi(told.append)

    assert first == kept == again
    assert first.origin == "build"
    assert sorted(path.name for path in first.directory.iterdir()) == sorted(pins.PULUMI_FILES)
    assert not list(cache.rglob("*.partial-*"))
    builds = fake_go.read_text().splitlines()
    assert len(builds) == 4  # two programs, twice
    assert all("-mod=readonly -trimpath" in line for line in builds)
    assert any("usually 3 to 5 minutes on two cores" in line for line in told)


@pytest.mark.parametrize("home", ["", "missing"])
def test_fails_without_a_place_for_the_cache(
    home: str, tmp_path: Path, fake_go: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is built: in a home directory that does not exist, no next command finds it."""
    for name in ("HOME", "XDG_CACHE_HOME", "TRAINYARD_CACHE"):
        monkeypatch.delenv(name, raising=False)
    missing = tmp_path / "missing"
    if home:
        monkeypatch.setenv("HOME", str(missing))
    why = f"the home directory {missing} does not exist" if home else "HOME is not set"

    with pytest.raises(EngineError, match=f"{re.escape(why)}; set TRAINYARD_CACHE"):
        ensure_pulumi(told.append)
    assert not missing.exists()
    assert not fake_go.exists()


@pytest.mark.usefixtures("commands")
def test_fails_where_the_cache_is_a_file(
    tmp_path: Path, release_host: ReleaseHost, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(release_host, RELEASE)
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "file"))

    with pytest.raises(EngineError, match=r"cache cannot be written.*set TRAINYARD_CACHE"):
        ensure_pulumi(told.append)


@pytest.mark.usefixtures("commands", "cache")
def test_a_host_that_cannot_be_reached_is_tried_once(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def refuse(address: str, timeout: float) -> None:
        tries.append(address)
        raise OSError("network is unreachable")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    monkeypatch.setenv(download.MIRROR_VARIABLE, "https://no-such-mirror.invalid")

    for _ in range(2):
        with pytest.raises(EngineError, match="cannot be reached: network is unreachable"):
            ensure_pulumi(told.append)

    path = pins.PULUMI_CHECKSUMS_URL.removeprefix("https://")
    assert tries == [f"https://no-such-mirror.invalid/{path}"]
