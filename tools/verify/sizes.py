"""Sizes of messages as text."""

from __future__ import annotations


def size_text(size_bytes: int) -> str:
    """Return a size such as `16 GiB`."""
    for unit, bits in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size_bytes >= 1 << bits:
            return f"{size_bytes / (1 << bits):g} {unit}"
    return f"{size_bytes} B"
