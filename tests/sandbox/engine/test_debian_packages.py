"""Packages of the distribution, Slurm and Chromium from them, and refusals. No network."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tools.programs import chromium
from trainyard.sandbox.engine import slurm
from trainyard.sandbox.engine.debian_packages import INSTALLED, unpack_packages
from trainyard.sandbox.engine.errors import EngineError

LINUX, MAC = ("Linux", "x86_64"), ("Darwin", "arm64")
FILES = (
    *(f"usr/bin/{name}" for name in slurm._COMMANDS),
    *(f"usr/sbin/{name}" for name in slurm._DAEMONS.values()),
    "lib/x86_64-linux-gnu/libc.so.6",
    "usr/lib/x86_64-linux-gnu/slurm-wlm/auth_munge.so",
    "usr/lib/chromium/chromium-headless-shell",
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Record the commands; `apt-get` finds one package, which has all files."""
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


def on(monkeypatch: pytest.MonkeyPatch, machine: tuple[str, str], *, apt: bool = True) -> None:
    """Choose the operating system and the processor; there is no browser."""
    for name, value in zip(("system", "machine"), machine, strict=True):
        monkeypatch.setattr(platform, name, lambda value=value: value)
    programs = {"apt-get": "/usr/bin/apt-get", "dpkg-deb": "/usr/bin/dpkg-deb"} if apt else {}
    monkeypatch.setattr(shutil, "which", programs.get)


@pytest.mark.parametrize(("complete", "installed"), [(True, False), (False, True)])
def test_packages_are_unpacked_and_not_installed(
    asked: list[Sequence[str]], tmp_path: Path, *, complete: bool, installed: bool
) -> None:
    unpack_packages(("one", "two"), tmp_path / "target", complete=complete)
    update, install, extract = asked
    assert update[-1] == "update"
    assert "--download-only" in install
    assert install[-2:] == ("one", "two")
    assert (f"--option=Dir::State::status={INSTALLED}" in install) is installed
    assert extract[-1] == str(tmp_path / "target")


def test_what_cannot_be_downloaded_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(command: Sequence[str], **_: Any) -> None:
        raise subprocess.CalledProcessError(100, command, stderr="E: Unable to locate\npackage")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(EngineError, match=r"`apt-get` failed: E: Unable to locate package$"):
        unpack_packages(("one",), tmp_path)


def test_programs_of_slurm_load_the_libraries_of_their_packages(
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


@pytest.mark.parametrize(("machine", "apt"), [(MAC, True), (LINUX, False)])
@pytest.mark.usefixtures("cache")
def test_machines_without_slurm_are_refused(
    monkeypatch: pytest.MonkeyPatch, machine: tuple[str, str], *, apt: bool
) -> None:
    on(monkeypatch, machine, apt=apt)
    with pytest.raises(EngineError, match=r"needs Linux on x86-64 with `apt-get`"):
        slurm.ensure_slurm(print)


def test_chromium_finds_its_libraries_and_fonts(cache: Path, asked: list[Sequence[str]]) -> None:
    browser = chromium.ensure_chromium(print)
    assert cache in Path(browser.program).parents
    assert Path(browser.program).read_text() == "usr/lib/chromium/chromium-headless-shell"
    fonts = Path(browser.variables["FONTCONFIG_FILE"])
    assert f"<dir>{fonts.parent}/usr/share/fonts</dir>" in fonts.read_text()
    assert Path(browser.variables["LD_LIBRARY_PATH"].partition(":")[0]).is_dir()
    count = len(asked)
    assert chromium.ensure_chromium(print) == browser
    assert len(asked) == count


def test_an_installed_chromium_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"chromium": "/usr/bin/chromium"}
    monkeypatch.setattr(shutil, "which", found.get)
    assert chromium.ensure_chromium(print) == chromium.Chromium("/usr/bin/chromium")


@pytest.mark.usefixtures("cache")
def test_a_machine_without_a_chromium_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, LINUX, apt=False)
    with pytest.raises(EngineError, match="there is no Chromium: install it"):
        chromium.ensure_chromium(print)
