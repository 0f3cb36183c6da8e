"""The log of repairs: one JSON document a line, which stays when the events of a node are gone."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from trainyard.stack_files.files import file_text, private_log

TERMINATED = "RepairTerminated"
"""Step after which a replacement is missing until the next step."""


@dataclass(frozen=True, slots=True)
class Journal:
    """A file to which the steps of repairs are added."""

    path: Path

    def last_step(self) -> str:
        """Return the newest step; empty if there is none.

        Raises:
            OSError: the file cannot be read.
        """
        if not self.path.exists():
            return ""
        *_, newest = file_text(self.path).splitlines() or ["{}"]
        return str(json.loads(newest).get("step", ""))

    def add(self, at: datetime, **step: str) -> None:
        """Add a step.

        Raises:
            OSError: the file cannot be written.
        """
        line = json.dumps({"at": at.isoformat(timespec="seconds"), **step})
        with os.fdopen(private_log(self.path), "w", encoding="utf-8") as file:
            file.write(f"{line}\n")
