"""A gate in front of the provider plugins: selected calls of the engine wait there or never return.

A plugin behind the gate (`gated_plugin`) works as usual. The gate holds the calls that the plan
names: before the plugin executes them, or between their execution and the answer. The engine can
then be killed at exactly that point, for every plugin and type of resource.
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
"""Environment variable with the directory of the plan and of the announced calls."""
_POLL_SECONDS = 0.02


class Moment(enum.StrEnum):
    """When the provider stops a call."""

    NOT_BEGUN = "not begun"
    """The engine has recorded and sent the call; the provider has not executed it."""
    UNANSWERED = "unanswered"
    """The provider has executed the call; the engine has no answer yet."""

    @property
    def is_made(self) -> bool:
        """Whether the object exists at the time of the kill."""
        return self is Moment.UNANSWERED


@dataclass(frozen=True, slots=True)
class Held:
    """A call that has reached the gate."""

    urn: str
    engine_pid: int


@dataclass(frozen=True, slots=True)
class Gate:
    """A directory that the plugins and the harness share."""

    directory: Path

    def plan(self, call: str, moments: Mapping[str, Moment]) -> None:
        """Set which resources (URNs) are stopped at a call (`Create`, `Delete`), and when."""
        for path in (*self._held_files(), self._open):
            path.unlink(missing_ok=True)
        self.directory.mkdir(parents=True, exist_ok=True)
        content = {"call": call, "moments": dict(moments)}
        self._plan.write_text(json.dumps(content), encoding="utf-8")

    def held(self) -> tuple[Held, ...]:
        """Return the waiting calls."""
        return tuple(Held(**json.loads(path.read_text("utf-8"))) for path in self._held_files())

    def open(self) -> None:
        """Release all waiting calls."""
        self._open.touch()

    def moments(self, call: str) -> dict[str, Moment]:
        """Return the planned moment of a call."""
        content = json.loads(self._plan.read_text(encoding="utf-8"))
        planned = content["moments"] if content["call"] == call else {}
        return {urn: Moment(moment) for urn, moment in planned.items()}

    def stop(self, urn: str) -> None:
        """Announce a call, and return when the gate opens."""
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
