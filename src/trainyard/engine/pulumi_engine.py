"""The Pulumi engine that commands run: the user's, or a copy of the same version."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from trainyard.sandboxes.client import install_pulumi

Report = Callable[[str], None]
FILES = (
    *("pulumi", "pulumi-language-python"),
    *("pulumi-language-python-exec", "pulumi-resource-pulumi-python"),
)
"""Files that an engine requires for Python programs, policy packs and dynamic resources."""
_VERSION_TIMEOUT_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class PulumiEngine:
    """An engine that can run this program."""

    directory: Path
    """Directory of `pulumi` and its files for Python programs; comes first on the PATH."""
    version: str
    """Version of `pulumi`, without a `v`."""
    origin: Literal["path", "download", "build"]
    """Its source: the user's own, the official release, or a build."""

    @property
    def executable(self) -> Path:
        """The `pulumi` command."""
        return self.directory / "pulumi"


def pulumi_version() -> str:
    """Return the version of the engine that the installed SDK is for: the same."""
    return version("pulumi")


def ensure_pulumi(report: Report) -> PulumiEngine:
    """Return the engine of the version of the SDK; install it first if it is missing.

    A `pulumi` on the PATH is used if it has exactly that version and its language host for Python
    is in the same directory. It is never changed, and never run with the user's own login.

    Raises:
        EngineError: the engine can neither be downloaded nor built; the message says what was
            tried.
    """
    found = _on_path(report)
    if found is not None:
        return found
    directory, origin = install_pulumi(report)
    return PulumiEngine(directory=directory, version=pulumi_version(), origin=origin)


def _on_path(report: Report) -> PulumiEngine | None:
    """Return the user's engine if it can be used; otherwise report the reason in one line."""
    command = shutil.which("pulumi")
    if command is None:
        return None
    found = _version_of(command)
    if found != pulumi_version():
        report(
            f"the pulumi at {command} is {found or 'of an unknown version'}, this program needs "
            f"{pulumi_version()}: using a copy of its own, yours stays as it is"
        )
        return None
    # A package manager may link only the command itself into the directory on the PATH.
    for directory in (Path(command).absolute().parent, Path(command).resolve().parent):
        if _is_complete(directory):
            return PulumiEngine(directory=directory, version=pulumi_version(), origin="path")
    report(
        f"the pulumi at {command} has no language host for Python beside it: "
        "using a copy of its own, yours stays as it is"
    )
    return None


def _version_of(command: str) -> str | None:
    """Return the version of a `pulumi`, which runs with a separate home, not the user's."""
    with tempfile.TemporaryDirectory(prefix="trainyard-") as home:
        environment = os.environ | {"PULUMI_HOME": home, "PULUMI_SKIP_UPDATE_CHECK": "true"}
        try:
            answer = subprocess.run(
                [command, "version"],
                env=environment,
                capture_output=True,
                text=True,
                timeout=_VERSION_TIMEOUT_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
    return answer.stdout.strip().removeprefix("v") or None


def _is_complete(directory: Path) -> bool:
    """Return whether a directory has every file of an engine, executable and not empty."""
    paths = [directory / name for name in FILES]
    return all(
        path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK) for path in paths
    )
