"""The schedule in force in this process: counts calls, and says which are hit."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sandbox.faults.kind import Answer, Refusal, Request
from sandbox.faults.schedule import Fault

if TYPE_CHECKING:
    from sandbox.faults.consistency import Hidden

OBSERVER = "trainyard-sandbox-observer"
"""In the user agent of the sandbox's own clients (inventory, nodes), which no fault hits."""


class Entry:
    """One entry of the schedule with what became of it.

    Attributes:
        fault: What it says.
        matched: Calls that it matched so far.
        happened: How often it has happened.
    """

    def __init__(self, fault: Fault) -> None:
        self.fault, self.matched, self.happened = fault, 0, 0


class InForce:
    """The schedule that calls are judged by."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._hidden: list[Hidden] = []

    def use(self, schedule: Sequence[Fault]) -> None:
        """Put a schedule in force instead of the earlier one; counts begin anew."""
        with self._lock:
            self._entries = [Entry(fault) for fault in schedule]
            self._hidden = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing can happen."""
        return not self._entries

    def of_kind(self, name: str) -> list[Entry]:
        """Return the entries of a kind, for parts that ask instead of being called."""
        return [entry for entry in self._entries if entry.fault.happens == name]

    def happened(self, entry: Entry) -> None:
        """Count that an entry of `of_kind` has happened."""
        with self._lock:
            entry.happened += 1

    def answer(self, request: Request) -> Answer:
        """Answer a request: as it is, or with the fault that hits it.

        Raises:
            ConnectionResetError: the fault closed the connection.
        """
        hidden = self._hides(request)
        if hidden is not None:
            return hidden.not_found(request)
        fault = self._hit(request.call.service, request.call.operation)
        return fault.kind.happen(fault, request, self) if fault else request.answered()

    def refusal(self, service: str, operation: str) -> Refusal | None:
        """Return the error of a call that a service makes for the user, such as a launch.

        Faults of connections, processes and credentials do not happen to such calls.
        """
        fault = self._hit(service, operation, inside=True)
        return fault.kind.refusal(service, operation) if fault else None

    def hide(self, hidden: Hidden) -> None:
        """Let an object not be found for a while."""
        with self._lock:
            self._hidden.append(hidden)

    def described(self) -> list[dict[str, Any]]:
        """Return each entry as it was written, with `matched` and `happened`."""
        return [
            {
                **entry.fault.model_dump(exclude_defaults=True),
                "matched": entry.matched,
                "happened": entry.happened,
            }
            for entry in self._entries
        ]

    def _hides(self, request: Request) -> Hidden | None:
        with self._lock:
            for hidden in self._hidden:
                if hidden.is_read_by(request.call, request.environ, request.body):
                    hidden.for_calls -= 1
                    if hidden.for_calls == 0:
                        self._hidden.remove(hidden)
                    return hidden
        return None

    def _hit(self, service: str, operation: str, *, inside: bool = False) -> Fault | None:
        """Count a call and return the first fault that hits it; all that match count it."""
        hit: Fault | None = None
        with self._lock:
            for entry in self._entries:
                fault = entry.fault
                if not fault.matches(service, operation):
                    continue
                if inside and not fault.kind.happens_inside:
                    continue
                entry.matched += 1
                if hit is None and fault.hits(entry.matched):
                    entry.happened += 1
                    hit = fault
        return hit


FAULTS = InForce()
"""The schedule of this process; there is one server in a process."""
