"""Slurm from the packages of the distribution: how they are set up, and refusals. No network."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tools.engine import slurm
from tools.engine.errors import EngineError
from tools.engine.platforms import Platform

LINUX = Platform(system="linux", architecture="amd64", pulumi_architecture="x64")
MAC = Platform(system="darwin", architecture="arm64", pulumi_architecture="arm64")
FILES = (
    *(f"usr/bin/{name}" for name in slurm._COMMANDS),
    *(f"usr/sbin/{name}" for name in slurm._DAEMONS.values()),
    "lib/x86_64-linux-gnu/libc.so.6",
    "usr/lib/x86_64-linux-gnu/slurm-wlm/auth_munge.so",
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Record the commands, which find one package with all files."""
    commands: list[Sequence[str]] = []

    def run(command: Sequence[str], **_: Any) -> None:
        commands.append(command)
        if "install" in command:
            cache = next(word for word in command if word.startswith("--option=Dir::Cache="))
            Path(cache.rpartition("=")[2], "archives", "all.deb").touch()
        elif command[0] == "dpkg-deb":
            for name in FILES:
                path = Path(command[-1], name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(name)

    on(monkeypatch, LINUX)
    monkeypatch.setattr(subprocess, "run", run)
    return commands


def on(monkeypatch: pytest.MonkeyPatch, platform: Platform, *, apt: str | None = "apt-get") -> None:
    monkeypatch.setattr(slurm, "this_platform", lambda: platform)
    monkeypatch.setattr(slurm.shutil, "which", lambda _: apt)


def test_the_programs_load_the_libraries_of_their_packages(
    cache: Path, asked: list[Sequence[str]]
) -> None:
    directory = slurm.ensure_slurm(print)
    assert cache in directory.parents
    assert (directory / "sbin" / "slurmd").read_text() == "usr/sbin/slurmd-wlm"
    assert (directory / "bin" / "squeue").read_text() == "usr/bin/squeue"
    assert (directory / "lib" / "libc.so.6").exists()
    assert (directory / "lib" / "slurm-wlm" / "auth_munge.so").exists()
    assert f"{directory}/lib/slurm-wlm:{directory}/lib" in asked[-2]
    count = len(asked)
    assert slurm.ensure_slurm(print) == directory
    assert len(asked) == count


@pytest.mark.usefixtures("cache")
def test_nothing_is_installed_on_the_machine(asked: list[Sequence[str]]) -> None:
    slurm.ensure_slurm(print)
    installs = [command for command in asked if "install" in command]
    assert all("--download-only" in command for command in installs)
    assert installs


@pytest.mark.usefixtures("cache", "asked")
def test_what_cannot_be_downloaded_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(command: Sequence[str], **_: Any) -> None:
        raise subprocess.CalledProcessError(100, command, stderr="E: Unable to locate\npackage")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(EngineError, match=r"downloaded: E: Unable to locate package\. Without it"):
        slurm.ensure_slurm(print)


@pytest.mark.parametrize(("platform", "apt"), [(MAC, "apt-get"), (LINUX, None)])
@pytest.mark.usefixtures("cache")
def test_other_platforms_are_refused(
    monkeypatch: pytest.MonkeyPatch, platform: Platform, apt: str | None
) -> None:
    on(monkeypatch, platform, apt=apt)
    with pytest.raises(EngineError, match=r"needs Linux on x86-64 with `apt-get`"):
        slurm.ensure_slurm(print)
