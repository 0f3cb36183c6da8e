"""Programs from the packages of the machine's distribution, without an installation.

`apt-get` downloads packages of Debian or Ubuntu and verifies them as for an installation. They are
unpacked into a directory, which needs no privileges. Lists and packages are in directories of their
own: https://manpages.debian.org/stable/apt/apt.conf.5.en.html
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from trainyard.sandbox.engine.errors import EngineError

INSTALLED = Path("/var/lib/dpkg/status")
"""The list of the packages that are installed on this machine."""


def has_packages() -> bool:
    """Return whether this machine has the tools that get packages of Debian or Ubuntu."""
    return shutil.which("apt-get") is not None and shutil.which("dpkg-deb") is not None


def unpack_packages(packages: Sequence[str], target: Path, *, complete: bool = False) -> None:
    """Unpack packages, with what they depend on, into a directory.

    Args:
        packages: Their names.
        target: The directory, which is created.
        complete: Whether to include dependencies that are installed on this machine, down to the C
            library.

    Raises:
        EngineError: they cannot be downloaded or unpacked; the message says why.
    """
    with tempfile.TemporaryDirectory(prefix="trainyard-packages-") as scratch:
        for package in _downloaded(packages, Path(scratch), complete=complete):
            _run("dpkg-deb", "--extract", str(package), str(target))


def _downloaded(packages: Sequence[str], scratch: Path, *, complete: bool) -> Sequence[Path]:
    for directory in ("lists/partial", "archives/partial"):
        (scratch / directory).mkdir(parents=True)
    nothing = scratch / "status"
    nothing.touch()
    settings = {
        # Root would download as a user who cannot write here.
        "APT::Sandbox::User": "",
        "Debug::NoLocking": "1",
        "Dir::Cache": str(scratch),
        "Dir::State": str(scratch),
        "Dir::State::lists": str(scratch / "lists"),
        "Dir::State::status": str(nothing if complete else INSTALLED),
    }
    own = [f"--option={name}={value}" for name, value in settings.items()]
    _run("apt-get", "--quiet", *own, "update")
    only = ("--yes", "--download-only", "--no-install-recommends")
    _run("apt-get", "--quiet", *own, "install", *only, *packages)
    return sorted((scratch / "archives").glob("*.deb"))


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = " ".join((getattr(error, "stderr", "") or str(error)).split())
        raise EngineError(f"`{command[0]}` failed: {said}") from error
