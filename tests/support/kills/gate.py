"""A gate before the provider plugins: chosen calls of the engine wait there, or never return.

A plugin behind the gate (`gated_plugin`) does what it always does. The gate holds the calls that
the plan names: before the work is done, or after it and before the answer. So the engine can be
killed at exactly that point, whatever the plugin and the type of the resource.
"""

from __future__ import annotations

import enum
import hashlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DIRECTORY = "TRAINYARD_TEST_GATE"
"""Environment variable with the directory in which a plan lies and calls announce themselves."""
_POLL_SECONDS = 0.02


class Moment(enum.StrEnum):
    """When a call is stopped, as seen from the provider."""

    NOT_BEGUN = "not begun"
    """The engine has asked and recorded that it did; nothing is done."""
    UNANSWERED = "unanswered"
    """The work is done and the engine has not heard of it."""

    @property
    def is_made(self) -> bool:
        """Whether the object exists when the kill comes."""
        return self is Moment.UNANSWERED


@dataclass(frozen=True, slots=True)
class Held:
    """A call that has reached the gate."""

    urn: str
    engine_pid: int


@dataclass(frozen=True, slots=True)
class Gate:
    """One directory, shared by the plugins and the harness."""

    directory: Path

    def plan(self, call: str, moments: Mapping[str, Moment]) -> None:
        """Set which resources (URNs) are stopped at a call (`Create`, `Delete`), and when."""
        for path in (*self._held_files(), self._open):
            path.unlink(missing_ok=True)
        self.directory.mkdir(parents=True, exist_ok=True)
        content = {"call": call, "moments": dict(moments)}
        self._plan.write_text(json.dumps(content), encoding="utf-8")

    def held(self) -> tuple[Held, ...]:
        """Return the calls that wait."""
        return tuple(Held(**json.loads(path.read_text("utf-8"))) for path in self._held_files())

    def open(self) -> None:
        """Let everything that waits go on."""
        self._open.touch()

    def moments(self, call: str) -> dict[str, Moment]:
        """Return what is planned for a call."""
        content = json.loads(self._plan.read_text(encoding="utf-8"))
        planned = content["moments"] if content["call"] == call else {}
        return {urn: Moment(moment) for urn, moment in planned.items()}

    def stop(self, urn: str) -> None:
        """Announce a call, and return when the gate is opened."""
        name = hashlib.sha256(urn.encode()).hexdigest()
        content = json.dumps({"urn": urn, "engine_pid": os.getppid()})
        # Renamed into place, so that a reader never sees an incomplete file.
        draft = self.directory / f"{name}.draft"
        draft.write_text(content, encoding="utf-8")
        draft.rename(self.directory / f"{name}.held")
        pause = threading.Event()
        while not self._open.exists():
            pause.wait(_POLL_SECONDS)

    def _held_files(self) -> list[Path]:
        return sorted(self.directory.glob("*.held"))

    @property
    def _plan(self) -> Path:
        return self.directory / "plan.json"

    @property
    def _open(self) -> Path:
        return self.directory / "open"
