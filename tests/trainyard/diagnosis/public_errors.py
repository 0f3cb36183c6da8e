"""Errors that people have asked about in public threads, and the section that explains each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml


@dataclass(frozen=True, slots=True)
class PublicError:
    """An error of a thread, in the words of the program."""

    section: str | None
    """Heading of its section on the page; None if no section explains it."""
    origin: Literal["aws", "batch", "kubernetes", "log", "node", "slurm"]
    """Where it stands; `node` is the log of a kernel."""
    source: str
    """Address of the thread."""
    text: str

    @property
    def is_held_back(self) -> bool:
        """Whether no pattern may be written for it: it only measures the others."""
        return int(hashlib.sha256(self.text.encode()).hexdigest(), 16) % 3 == 0


def public_errors() -> list[PublicError]:
    """Return all of them."""
    path = Path(__file__).with_name("public_errors.yaml")
    return [
        PublicError(each["section"], each["from"], each["source"], each["text"])
        for each in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]
