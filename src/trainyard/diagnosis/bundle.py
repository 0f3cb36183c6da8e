"""A directory with everything that explains the state of a stack.

A part that cannot be read is noted, and does not stop the others: a bundle is made when something
is broken. `trainyard.components.secret_documents` leaves out what looks like a secret, and what is
given to programs of users. Only the owner can read the files.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from trainyard.components.plain_text import legible
from trainyard.components.secret_documents import shareable
from trainyard.components.secret_text import without_secrets
from trainyard.diagnosis.known_errors import known_error
from trainyard.stack_files.files import write_private

SUMMARY = "summary.md"
_LONGEST_REASON = 300

Read = TypeVar("Read")


@dataclass(slots=True)
class Bundle:
    """The directory, and what is known so far."""

    directory: Path
    """An existing, empty directory."""
    files: list[str] = field(default_factory=list[str])
    missing: dict[str, str] = field(default_factory=dict[str, str])
    """Why a part could not be read, by part."""
    causes: list[str] = field(default_factory=list[str])
    """What is wrong, the most likely cause of problems first."""

    def add(self, name: str, read: Callable[[], Read]) -> Read | None:
        """Write what a function returns to a file, and return it; None if it fails.

        Args:
            name: Path in the directory.
            read: Reads the part; what is not text is written as JSON.
        """
        try:
            found = read()
        except Exception as error:
            self.missing[name] = _reason(error)
            return None
        self._write(name, _text(found))
        self.files.append(name)
        return found

    def blame(self, causes: Iterable[str]) -> None:
        """Add causes, each once."""
        self.causes += [each for each in dict.fromkeys(causes) if each not in self.causes]

    def finish(self, title: str) -> str:
        """Write the summary, and return it."""
        causes = [f"- {_with_place(each)}" for each in self.causes]
        missing = [f"- {name}: {why}" for name, why in self.missing.items()]
        lines = [
            f"# {title}",
            "",
            "## Likely causes",
            "",
            *(causes or ["Nothing that is wrong was found."]),
            *(["", "## Not read", "", *missing] if missing else []),
            "",
            "## Files",
            "",
            *(f"- {name}" for name in self.files),
        ]
        text = without_secrets("\n".join(lines)) + "\n"
        self._write(SUMMARY, text)
        return text

    def _write(self, name: str, text: str) -> None:
        path = self.directory / name
        for parent in reversed(path.relative_to(self.directory).parents[:-1]):
            (self.directory / parent).mkdir(mode=0o700, exist_ok=True)
        write_private(path, text)


def _with_place(cause: str) -> str:
    """Return a cause with the section of the documentation on its error, if there is one."""
    known = known_error(cause)
    return f"{cause} ({known.more})" if known else cause


def _reason(error: Exception) -> str:
    """Return the first line of an error; an error of the Kubernetes client has a status."""
    status, reason = getattr(error, "status", None), getattr(error, "reason", None)
    said = f"{status} {reason}" if status else str(error) or type(error).__name__
    return legible(without_secrets(said.strip().splitlines()[0]))[:_LONGEST_REASON]


def _text(found: object) -> str:
    if isinstance(found, str):
        return without_secrets(found)
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        found = dataclasses.asdict(found)
    return json.dumps(shareable(found), indent=2, default=str) + "\n"


def answer(found: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of an AWS call without its metadata."""
    return {name: value for name, value in found.items() if name != "ResponseMetadata"}
