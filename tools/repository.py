"""The files of a repository, and copies of it for programs that change files."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The root of this repository."""
OWN_FILES = ROOT / ".trainyard"
"""Directory of the files of commands; git ignores it."""


def repository_files(root: Path) -> list[str]:
    """Return the sorted paths, below the root of a repository, of the files that belong to it.

    These are the files that git tracks or would add, without those that have been removed, and
    without links to directories.

    Raises:
        subprocess.CalledProcessError: the directory is in no repository.
    """
    return [path for path in _paths(root) if (root / path).is_file()]


def copy_repository(root: Path, target: Path, *, without: Collection[str] = ()) -> None:
    """Copy the files and links of a repository, and link the environment of the original.

    Args:
        root: Root of the repository.
        target: Directory of the copy.
        without: Folders of the root to leave out.

    Raises:
        subprocess.CalledProcessError: the directory is in no repository.
    """
    for name in _paths(root):
        if Path(name).parts[0] not in without and ((root / name).exists()):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name, follow_symlinks=False)
    (target / ".venv").symlink_to((root / ".venv").resolve())


def _paths(root: Path) -> list[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    # A file with a merge conflict is listed several times.
    return sorted({path for path in listed.stdout.split("\0") if path})
