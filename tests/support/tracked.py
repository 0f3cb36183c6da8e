"""The files of the repository, without files that tools and the sandbox create."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tools.repository import repository_files

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked_files() -> tuple[Path, ...]:
    """Return the sorted paths, relative to the root, of all files that git tracks or would add."""
    return tuple(sorted(map(Path, repository_files(ROOT))))


def tracked(*suffixes: str) -> list[Path]:
    """Return the tracked files whose names end in one of the suffixes."""
    return [path for path in tracked_files() if path.suffix in suffixes]
