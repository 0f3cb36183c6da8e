"""The files of the repository, without what tools and the sandbox make in it."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked_files() -> tuple[Path, ...]:
    """Return every file that is in git or would be added to it, relative to the root, sorted."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = (Path(name) for name in listed.stdout.split("\0") if name)
    return tuple(sorted(path for path in paths if (ROOT / path).is_file()))


def tracked(*suffixes: str) -> list[Path]:
    """Return the tracked files whose names end in one of the suffixes."""
    return [path for path in tracked_files() if path.suffix in suffixes]
