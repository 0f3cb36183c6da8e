"""The locked environments: exact versions with hashes, written from ``pyproject.toml``.

The files name packages and hashes only, no index, so that they work with every index and mirror.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

UV_VERSION = "0.13.8"
"""Version of uv that is got where none, or one that is too old, is on the PATH."""


@dataclass(frozen=True, kw_only=True)
class Lock:
    """One lock file and what it locks."""

    path: Path
    """The file, relative to the root of the repository."""
    groups: tuple[str, ...]
    """Groups of ``[dependency-groups]`` that it holds."""
    program: bool = True
    """Whether it holds the program's own dependencies too."""
    constraint: Path | None = None
    """Another lock whose versions this one takes over."""


PROGRAM = Lock(path=Path("requirements.txt"), groups=("sandbox",))
"""What ``./trainyard`` needs for everything but its tests."""

DEVELOPMENT = Lock(
    path=Path("requirements-dev.txt"), groups=("sandbox", "dev"), constraint=PROGRAM.path
)
"""The same, and what the tests and the checks need."""

PARALLELCLUSTER = Lock(
    path=Path("requirements-parallelcluster.txt"), groups=("parallelcluster",), program=False
)
"""ParallelCluster and what deploys it in the sandbox: an environment of its own."""

ALL = (PROGRAM, DEVELOPMENT, PARALLELCLUSTER)
"""Every lock, each after the one whose versions it takes over."""

UV = Path("tools/lock/uv.txt")
"""uv itself, locked by hand-over of its one version."""


def declared(lock: Lock) -> dict[str, str]:
    """Return the versions that ``pyproject.toml`` pins for ``lock``, by normalised name.

    Raises:
        ValueError: a direct dependency is not pinned with ``==``.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups: Mapping[str, Sequence[str]] = project["dependency-groups"]
    requirements = list(project["project"]["dependencies"]) if lock.program else []
    for group in lock.groups:
        requirements += groups[group]
    return dict(_pin(requirement) for requirement in requirements)


def locked(path: Path) -> dict[str, str]:
    """Return the versions in a lock file, by normalised name; one may occur a marker each."""
    text = (ROOT / path).read_text(encoding="utf-8")
    pins = re.findall(r"^([a-zA-Z0-9._-]+)==([^\s;\\]+)", text, flags=re.MULTILINE)
    return {normalised(name): version for name, version in pins}


def normalised(name: str) -> str:
    """Return a package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _pin(requirement: str) -> tuple[str, str]:
    found = re.fullmatch(r"([a-zA-Z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", requirement)
    if found is None:
        raise ValueError(
            f"pyproject.toml: {requirement!r} must pin one version with ==, as all direct "
            "dependencies do; then run `python -m tools.lock`"
        )
    return normalised(found[1]), found[2]
