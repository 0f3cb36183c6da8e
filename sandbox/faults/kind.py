"""A fault: an entry of the schedule, and its kind, which defines the effect on a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.aws.unimplemented import Call
    from trainyard.sandbox.faults.fault import Fault


@dataclass(frozen=True, slots=True)
class Refusal:
    """An AWS error."""

    code: str
    """Error code, such as `ThrottlingException`."""
    status: int
    """HTTP status code."""
    message: str


@dataclass(slots=True)
class Request:
    """One request to the account."""

    call: Call
    environ: dict[str, Any]
    body: bytes
    work: Callable[[dict[str, Any], bytes], Answer]
    """Processes the request, or a changed one."""

    def answered(self) -> Answer:
        """Process the request and return the response."""
        return self.work(self.environ, self.body)

    def drop(self) -> Answer:
        """Close the connection without a response; the client sees a reset.

        Raises:
            ConnectionResetError: always; the server's handler closes the connection.
        """
        raise ConnectionResetError("the schedule of faults says so")


class Entry:
    """One entry of the schedule in force.

    Attributes:
        fault: The parsed entry.
        kind: Its kind.
        matched: Number of calls that it has matched.
        happened: Number of times that it has happened.
        judged: Whether it hits an object for good, by the id of the object.
    """

    def __init__(self, fault: Fault, kind: Kind) -> None:
        self.fault, self.kind, self.matched, self.happened = fault, kind, 0, 0
        self.judged: dict[str, bool] = {}


class HiddenObject(Protocol):
    """An object that is not found for some calls."""

    for_calls: int

    def is_read_by(self, call: Call, environ: dict[str, Any], body: bytes) -> bool:
        """Return whether a request reads the object."""
        ...

    def not_found(self, request: Request) -> Answer:
        """Respond to a read as if the object did not exist."""
        ...


class Schedule(Protocol):
    """The part of the schedule in force that kinds of fault use."""

    def of_kind(self, name: str) -> list[Entry]:
        """Return the entries of a kind."""
        ...

    def happened(self, entry: Entry) -> None:
        """Count an occurrence of an entry from `of_kind`."""
        ...

    def hide(self, hidden: HiddenObject) -> None:
        """Hide an object for a number of reads."""
        ...

    def hit(self, matches: Callable[[Entry], bool]) -> Entry | None:
        """Count an occasion in all matching entries, and return the first that hits it."""
        ...


class Kind:
    """A kind of fault.

    Attributes:
        name: Value of `happens` in a schedule.
        summary: Its effect, in one line for `docs/faults.md`.
        needs_call: Whether it affects calls; otherwise other modules query whether it is in force.
        keys: Supported keys of the schedule in addition to `happens`, and to `call`, `nth` and
            `times` if it affects calls.
        required: The required ones of `keys`.
        happens_inside: Whether it also affects calls that a service makes for the user, such as the
            launch of a node by Auto Scaling.
    """

    name: str
    summary: str
    needs_call: bool = True
    keys: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    happens_inside: bool = False

    def happens_to(self, service: str, operation: str) -> bool:
        """Return whether AWS has this fault for a call."""
        return True

    def refusal(self, service: str, operation: str) -> Refusal | None:
        """Return AWS's error if the fault is one; used for launches by services of the account."""
        return None

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Respond to a call that the fault hits.

        Raises:
            ConnectionResetError: the connection was closed instead.
        """
        raise NotImplementedError(f"{self.name} does not happen to calls")
