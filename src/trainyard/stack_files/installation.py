"""Where this trainyard is: a clone, or a package in a Python environment.

In a clone, the program, the shipped stack files and the documents are at its root. A package has
all of them below its own directory, and the user's directory is a Pulumi project of its own.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.components.package_data import data_text
from trainyard.components.typed_command import CLONE

PACKAGE = Path(__file__).resolve().parents[1]
"""The directory of the package `trainyard`."""
PROJECT = "trainyard"
"""Name of the Pulumi project, which is part of the URN of every resource."""
OWN_FILES = ".trainyard"
"""Name of the directory with the files of commands; git ignores it."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A clone, or a package in an environment."""

    clone: Path | None
    """Root of the clone; None for a package."""

    @property
    def examples(self) -> Path:
        """Directory of the shipped stack files, which is also a project in a clone."""
        return self.clone or PACKAGE / "examples"

    @property
    def programs(self) -> Path:
        """Directory of the example programs."""
        return (self.clone or PACKAGE) / "examples"

    @property
    def documents(self) -> Path:
        """Directory of the documents, such as `config.md`."""
        return (self.clone or PACKAGE) / "docs"

    @property
    def own_files(self) -> Path:
        """Directory of files that do not belong to a stack, such as the sandbox.

        In a clone it is in the clone. For a package it is the user's, by the XDG Base Directory
        Specification: https://specifications.freedesktop.org/basedir-spec/latest/
        """
        if self.clone is not None:
            return self.clone / OWN_FILES
        if state := os.environ.get("XDG_STATE_HOME"):
            return Path(state) / PROJECT
        if home := os.environ.get("HOME"):
            return Path(home) / ".local" / "state" / PROJECT
        return self.default_directory / OWN_FILES

    @property
    def default_directory(self) -> Path:
        """Directory of the user's stack files, unless another one is chosen or remembered."""
        return self.clone or Path(os.path.realpath("."))

    @property
    def environment(self) -> Path:
        """The Python environment in which the program runs in generated projects."""
        return self.clone / ".venv" if self.clone is not None else Path(sys.prefix)


INSTALLATION = Installation(CLONE)
"""The one that runs."""


def program_path() -> Path:
    """Return the absolute path of the command `trainyard` that this process runs."""
    if INSTALLATION.clone is not None:
        return INSTALLATION.clone / PROJECT
    return Path(sys.prefix) / "bin" / PROJECT


def program_version() -> str:
    """Return the version of trainyard: that of the package, or that of the clone."""
    if INSTALLATION.clone is None:
        from importlib.metadata import version

        return version(PROJECT)
    import tomllib

    text = data_text(INSTALLATION.clone / "pyproject.toml")
    return tomllib.loads(text)["project"]["version"]


def requirement() -> str:
    """Return the requirement that installs the package that runs.

    It is `trainyard==VERSION`, or the address of the wheel or the directory that it was installed
    from: https://packaging.python.org/en/latest/specifications/direct-url/
    """
    # 10 ms, which `init` alone needs.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found = distribution(PROJECT)
    except PackageNotFoundError:
        return PROJECT
    origin = found.read_text("direct_url.json")
    if origin is None:
        return f"{PROJECT}=={found.version}"
    return f"{PROJECT} @ {json.loads(origin)['url']}"


def generated_project(program: Path, installation: Installation = INSTALLATION) -> dict[str, Any]:
    """Return the content of a `Pulumi.yaml` whose program and environment are elsewhere.

    `main` and `virtualenv` are absolute:
    https://www.pulumi.com/docs/iac/concepts/projects/project-file/

    Args:
        program: Directory with the `__main__.py`.
        installation: The one whose environment runs the program.
    """
    return {
        "name": PROJECT,
        "description": "Generated; the program is elsewhere.",
        "main": str(program),
        "runtime": {
            "name": "python",
            "options": {"toolchain": "pip", "virtualenv": str(installation.environment)},
        },
    }
