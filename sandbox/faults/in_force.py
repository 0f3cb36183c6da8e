"""The schedule in force in this process: counts calls, and determines which are hit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from trainyard.sandbox.faults.fault import Fault
from trainyard.sandbox.faults.kind import Entry, HiddenObject, Refusal, Request
from trainyard.sandbox.faults.kinds import KINDS
from trainyard.sandbox.faults.models import SERVICES
from trainyard.sandbox.faults.schedule import full_call
from trainyard.sandbox.wsgi import Answer

OBSERVER = "trainyard-sandbox-observer"
"""User agent of the sandbox's own clients (inventory, nodes), which faults do not affect."""


class InForce:
    """The schedule that applies to calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._hidden: list[HiddenObject] = []

    def use(self, schedule: Sequence[Fault]) -> None:
        """Replace the schedule in force and reset the counts."""
        with self._lock:
            self._entries = [Entry(fault, KINDS[fault.happens]) for fault in schedule]
            self._hidden = []

    def add(self, schedule: Sequence[Fault]) -> None:
        """Put entries before those in force, which keep their counts."""
        with self._lock:
            added = [Entry(fault, KINDS[fault.happens]) for fault in schedule]
            self._entries = [*added, *self._entries]

    @property
    def is_empty(self) -> bool:
        """Whether no fault is in force."""
        return not self._entries

    def of_kind(self, name: str) -> list[Entry]:
        """Return the entries of a kind, for modules that query them."""
        return [entry for entry in self._entries if entry.fault.happens == name]

    def happened(self, entry: Entry) -> None:
        """Count an occurrence of an entry from `of_kind`."""
        with self._lock:
            entry.happened += 1

    def answer(self, request: Request) -> Answer:
        """Respond to a request: normally, or with the fault that hits it.

        Raises:
            ConnectionResetError: the fault closed the connection.
        """
        hidden = self._hides(request)
        if hidden is not None:
            return hidden.not_found(request)
        hit = self._hit(request.call.service, request.call.operation)
        return hit.kind.happen(hit.fault, request, self) if hit else request.answered()

    def refusal(self, service: str, operation: str) -> Refusal | None:
        """Return the error of a call that a service makes for the user, such as a launch.

        Faults of connections, processes and credentials do not affect such calls.
        """
        hit = self._hit(service, operation, inside=True)
        return hit.kind.refusal(service, operation) if hit else None

    def hide(self, hidden: HiddenObject) -> None:
        """Hide an object for a number of reads."""
        with self._lock:
            self._hidden.append(hidden)

    def described(self) -> list[dict[str, Any]]:
        """Return each entry as in the schedule, with `matched` and `happened`."""
        return [
            {
                **entry.fault.model_dump(exclude_defaults=True),
                "matched": entry.matched,
                "happened": entry.happened,
            }
            for entry in self._entries
        ]

    def _hides(self, request: Request) -> HiddenObject | None:
        with self._lock:
            for hidden in self._hidden:
                if hidden.is_read_by(request.call, request.environ, request.body):
                    hidden.for_calls -= 1
                    if hidden.for_calls == 0:
                        self._hidden.remove(hidden)
                    return hidden
        return None

    def _hit(self, service: str, operation: str, *, inside: bool = False) -> Entry | None:
        return self.hit(
            lambda entry: (
                _matches(entry, service, operation) and (entry.kind.happens_inside or not inside)
            )
        )

    def hit(self, matches: Callable[[Entry], bool]) -> Entry | None:
        """Count an occasion in all matching entries, and return the first that hits it."""
        hit: Entry | None = None
        with self._lock:
            for entry in self._entries:
                if not matches(entry):
                    continue
                entry.matched += 1
                if hit is None and entry.fault.hits(entry.matched):
                    entry.happened += 1
                    hit = entry
        return hit


def _matches(entry: Entry, service: str, operation: str) -> bool:
    """Return whether an entry counts a call."""
    if not entry.fault.call or service not in SERVICES:
        return False
    wanted_service, _, wanted_operation = full_call(entry.fault.call).partition(":")
    return (
        fnmatchcase(service, wanted_service)
        and fnmatchcase(operation, wanted_operation)
        and entry.kind.happens_to(service, operation)
    )


FAULTS = InForce()
"""The schedule of this process, which has one server."""
