"""A schedule of faults as YAML, validated, and the one in force in this process.

Example:
    - call: ec2:RunInstances   # service:Operation, as in an IAM policy; `*` matches anything
      nth: 2                   # the first matching call that is hit; default 1
      times: 3                 # how many consecutive matching calls; default 1; or `always`
      happens: throttled
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from trainyard.sandbox.faults.fault import (
    DIRECTORY,
    SERVICES,
    Entry,
    Fault,
    HiddenObject,
    Refusal,
    Request,
    operations,
)
from trainyard.sandbox.faults.kinds import KINDS
from trainyard.sandbox.wsgi import Answer

_KEYS_OF_CALLS = frozenset({"call", "nth", "times"})
"""Keys of all kinds that affect calls."""
_MAXIMUM_FAULTS = 1000
_LISTED = 25
"""Maximum number of names that a message lists if none is similar."""


class FaultScheduleError(ValueError):
    """A schedule is invalid; the message lists every problem, one per line."""


def read_schedule(text: str, directory: Path | None = None) -> list[Fault]:
    """Return the schedule in a YAML text.

    Args:
        text: The YAML text.
        directory: Directory of its file, from which the paths of logs start; None: the root.

    Raises:
        FaultScheduleError: it is not a valid schedule.
    """
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FaultScheduleError(f"not YAML: {error}") from error
    return parse_schedule(content if content is not None else [], directory)


def parse_schedule(content: Any, directory: Path | None = None) -> list[Fault]:
    """Return the schedule in parsed data.

    Raises:
        FaultScheduleError: it is not a valid schedule; the message lists every problem.
    """
    if not isinstance(content, list) or len(content) > _MAXIMUM_FAULTS:
        raise FaultScheduleError(
            f"a schedule is a list of at most {_MAXIMUM_FAULTS} entries, each with `call` and "
            "`happens`"
        )
    problems: list[str] = []
    faults: list[Fault] = []
    for number, entry in enumerate(content):
        fault, found = _parsed(entry, directory)
        problems += [f"[{number}]{each}" for each in found]
        faults += [fault] if fault is not None else []
    if problems:
        raise FaultScheduleError("\n".join(problems))
    return faults


def _parsed(entry: Any, directory: Path | None) -> tuple[Fault | None, list[str]]:
    if not isinstance(entry, dict):
        return None, [": an entry is a mapping with `call` and `happens`"]
    # Check the name first, because the required keys depend on it.
    happens = entry.get("happens")
    if happens not in KINDS if isinstance(happens, str) else True:
        return None, [f".happens: {_unknown(happens, KINDS)}"]
    unknown = [key for key in entry if key not in Fault.model_fields]
    if unknown:
        return None, [f": the key {_unknown(key, Fault.model_fields)}" for key in unknown]
    try:
        fault = Fault.model_validate(entry, context={DIRECTORY: directory})
    except ValidationError as error:
        wrong = {_place(each): each["msg"] for each in error.errors()}
        if "times" in wrong:
            wrong["times"] = f"{entry['times']!r} is neither a whole number from 1 nor `always`"
        return None, [f".{place}: {what}" for place, what in wrong.items()]
    return fault, [*_wrong_keys(fault), *_wrong_call(fault)]


def _place(error: Any) -> str:
    return str(error["loc"][0])


def _unknown(given: Any, known: Any) -> str:
    names = sorted(known)
    near = get_close_matches(str(given), names, n=3)
    if near:
        return f"{given!r} is not known; nearest: {', '.join(near)}"
    listed = ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")
    return f"{given!r} is not known; there are: {listed}"


def _wrong_keys(fault: Fault) -> list[str]:
    kind = KINDS[fault.happens]
    known = {"happens", *kind.keys, *(_KEYS_OF_CALLS if kind.needs_call else ())}
    wrong = [
        f".{key}: {kind.name} has no such key" for key in sorted(fault.model_fields_set - known)
    ]
    wrong += [
        f": {kind.name} needs `{key}`" for key in sorted(kind.required - fault.model_fields_set)
    ]
    if kind.needs_call and not fault.call:
        wrong.append(f": {kind.name} needs `call`, such as ec2:RunInstances")
    return wrong


def full_call(call: str) -> str:
    """Return `service:Operation` for the value of `call`."""
    return "*:*" if call == "*" else call


def _wrong_call(fault: Fault) -> list[str]:
    if not fault.call:
        return []
    service, colon, operation = full_call(fault.call).partition(":")
    services = [each for each in SERVICES if fnmatchcase(each, service)]
    if not colon or not operation:
        return [f".call: {fault.call!r} is not service:Operation, such as ec2:RunInstances"]
    if not services:
        return [f".call: the service {_unknown(service, SERVICES)}"]
    known = [(each, name) for each in services for name in operations(each)]
    found = [(each, name) for each, name in known if fnmatchcase(name, operation)]
    if not found:
        return [f".call: the call {_unknown(operation, {name for _, name in known})}"]
    kind = KINDS[fault.happens]
    if any(kind.happens_to(*each) for each in found):
        return []
    able = [f"{each}:{name}" for each, name in known if kind.happens_to(each, name)]
    instead = f"it does for {', '.join(able[:8])}" if able else "no call of this service does"
    return [f".call: {fault.call} does not give {fault.happens}; {instead}"]


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
