"""The uv that creates the environment. Its use by the launcher: ``tests/test_trainyard.py``."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import environment

Uv = Callable[[str], Path]


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Uv:
    """Put a uv on the PATH that prints its version with a script."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(script: str) -> Path:
        path = tmp_path / "uv"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.mark.parametrize("version", ["0.5.0", "0.13.8", "1.0.0"])
def test_a_uv_that_is_new_enough_is_used(uv: Uv, version: str) -> None:
    path = uv(f"echo 'uv {version} (x86_64-unknown-linux-gnu)'")

    assert environment._uv_on_path() == [str(path)]


@pytest.mark.parametrize("answer", ["uv 0.4.30", "uv 0.2.1 (abc)", "something else"])
def test_another_uv_is_named_and_not_used(
    uv: Uv, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = uv(f"echo '{answer}'")

    assert environment._uv_on_path() is None
    assert f"the uv at {path} is too old: using one of our own" in capsys.readouterr().err


def test_a_uv_that_does_not_start_is_not_used(uv: Uv) -> None:
    uv("exit 127")

    assert environment._uv_on_path() is None


def test_a_command_that_fails_is_shown_with_what_it_said_and_a_hint() -> None:
    with pytest.raises(environment.SetupError, match="cooking failed:\nno fire\nlight one"):
        environment.run(["/bin/sh", "-c", "echo no fire; exit 3"], "cooking", hint="light one")


def test_a_long_step_is_heard_of(tmp_path: Path) -> None:
    told = tmp_path / "told"
    command = ["/bin/sh", "-c", f"until [ -s '{told}' ]; do :; done"]

    with told.open("w") as file, contextlib.redirect_stderr(file):
        environment.run(command, "installing the locked packages", heartbeat_seconds=0.05)

    first, *_ = told.read_text().splitlines()
    assert first == "trainyard: installing the locked packages: 0 s so far"
