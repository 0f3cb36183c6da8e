"""The wheel that is built from the source distribution, installed where no clone is on any path."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.package.support.user import User
from tests.support.sandbox import Sandbox, running
from tests.support.tracked import ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the source distribution, which has no links."""
    place = tmp_path_factory.mktemp("distributions")
    (source,) = _built("sdist", ROOT, place)
    with tarfile.open(source) as archive:
        archive.extractall(place / "unpacked", filter="data")
    (unpacked,) = (place / "unpacked").iterdir()
    (made,) = _built("wheel", unpacked, place)
    return made


def _built(kind: str, root: Path, place: Path) -> list[Path]:
    command = [
        sys.executable,
        "-P",
        "-m",
        "hatchling",
        "build",
        "-t",
        kind,
        "-d",
        str(place / kind),
    ]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)
    return [*(place / kind).iterdir()]


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel; its dependencies are those of the clone."""
    place = tmp_path_factory.mktemp("environment")
    python = place / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    pip = [sys.executable, "-m", "pip", f"--python={python}", "install", "--quiet"]
    options = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, *options, str(wheel)], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    dependencies = sysconfig.get_path("purelib")
    (place / "lib" / version / "site-packages" / "dependencies.pth").write_text(f"{dependencies}\n")
    return python


@pytest.fixture(scope="session")
def new_user(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], User]:
    """Return a user with a new home and a new directory of that name."""

    def make(name: str) -> User:
        home = tmp_path_factory.mktemp(f"home-{name}")
        (home / name).mkdir()
        return User(installed, home, home / name)

    return make


@pytest.fixture
def user(new_user: Callable[[str], User]) -> User:
    return new_user("empty")


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A running sandbox of the clone; its account is that of the states."""
    with running(tmp_path_factory.mktemp("sandbox") / "sandbox") as started:
        yield started
