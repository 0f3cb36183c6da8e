"""A secret of a test, and where its value turns up."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

VALUE = "hf_PlantedByATest0123456789'$(id)"
DIGEST = hashlib.sha256(VALUE.encode()).hexdigest()
_SPELLINGS = (VALUE, base64.b64encode(VALUE.encode()).decode().rstrip("="), VALUE[:24])


def reveals(texts: Iterable[object]) -> list[str]:
    """Return the beginnings of texts that contain the value, plain or in Base64."""
    return [str(each)[:200] for each in texts if any(one in str(each) for one in _SPELLINGS)]


def files_with_value(directory: Path, *, kept_in: str) -> list[Path]:
    """Return the files below a directory that contain the value.

    Args:
        directory: The directory.
        kept_in: Part of the paths of files that keep it.
    """
    needles = [each.encode() for each in _SPELLINGS]
    return [
        path
        for path in directory.rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and kept_in not in str(path)
        and any(needle in _content(path) for needle in needles)
    ]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # a process of the sandbox has removed it since it was listed
        return b""
