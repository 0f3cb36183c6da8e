"""The user's Go settings that a build uses, and those that it ignores."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trainyard.sandbox.engine.go_build import Go, GoProgram

PROGRAM = GoProgram(module=Path(), package=".", file_name="program")

Commands = Callable[[str, str], Path]


@pytest.fixture
def environment_of_a_build(
    commands: Commands, tmp_path: Path, told: list[str]
) -> Callable[[], dict[str, str]]:
    """Build something and return the environment that the compiler got."""
    seen = tmp_path / "seen"
    commands("go", f"/usr/bin/env > {seen}; echo go1.30.0")

    def build() -> dict[str, str]:
        Go.find(tmp_path).build(PROGRAM, tmp_path, told.append, "no time")
        return dict(line.split("=", 1) for line in seen.read_text().splitlines())

    return build


def test_how_modules_are_fetched_is_the_users_choice(
    environment_of_a_build: Callable[[], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {"GOPROXY": "https://proxy.example.com", "GOSUMDB": "off", "GOTOOLCHAIN": "local"}
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)

    assert chosen.items() <= environment_of_a_build().items()


def test_what_is_built_is_not(
    environment_of_a_build: Callable[[], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOS", "GOARCH", "GOFLAGS"):
        monkeypatch.setenv(name, "other")
    monkeypatch.setenv("CGO_ENABLED", "1")

    environment = environment_of_a_build()

    assert not {"GOOS", "GOARCH", "GOFLAGS"} & environment.keys()
    assert (environment["CGO_ENABLED"], environment["GOWORK"]) == ("0", "off")


def test_without_a_home_go_keeps_its_caches_with_ours(
    environment_of_a_build: Callable[[], dict[str, str]],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HOME", "GOCACHE", "GOPATH", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    environment = environment_of_a_build()

    assert environment["GOCACHE"] == str(cache / "gocache")
    assert environment["GOPATH"] == str(cache / "gopath")
