"""Read the files that are part of the package; no other module of `components` opens any.

`tests/contract/test_files.py` enforces it.
"""

from __future__ import annotations

from pathlib import Path


def data_text(path: Path) -> str:
    """Return the text of a file of the package."""
    return path.read_text(encoding="utf-8")
