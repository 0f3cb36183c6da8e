"""The files of the repository, without files that tools and the sandbox create."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked_files() -> tuple[Path, ...]:
    """Return the sorted paths, relative to the root, of all files that git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (Path(name) for name in listed.stdout.split("\0") if name)
    return tuple(sorted(path for path in paths if (ROOT / path).is_file()))


def tracked(*suffixes: str) -> list[Path]:
    """Return the tracked files whose names end in one of the suffixes."""
    return [path for path in tracked_files() if path.suffix in suffixes]
