"""What a fault is: an entry of the schedule, and the kind that says what it does to a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sandbox.aws.unimplemented import Call
    from sandbox.faults.fault import Fault

Answer = tuple[str, list[tuple[str, str]], bytes]
"""Status line, headers and body of an HTTP answer."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as AWS gives it."""

    code: str
    """`ThrottlingException`."""
    status: int
    """Of HTTP."""
    message: str


@dataclass(slots=True)
class Request:
    """One request to the account."""

    call: Call
    environ: dict[str, Any]
    body: bytes
    work: Callable[[dict[str, Any], bytes], Answer]
    """Answers the request, or a changed one."""

    def answered(self) -> Answer:
        """Do the work."""
        return self.work(self.environ, self.body)

    def drop(self) -> Answer:
        """Close the connection without an answer; the client sees it reset.

        Raises:
            ConnectionResetError: always; the server's handler closes the connection.
        """
        raise ConnectionResetError("the schedule of faults says so")


class Entry:
    """One entry of the schedule in force.

    Attributes:
        fault: What it says.
        kind: What happens.
        matched: Calls that it matched so far.
        happened: How often it has happened.
    """

    def __init__(self, fault: Fault, kind: Kind) -> None:
        self.fault, self.kind, self.matched, self.happened = fault, kind, 0, 0


class HiddenObject(Protocol):
    """An object that is not found for some calls."""

    for_calls: int

    def is_read_by(self, call: Call, environ: dict[str, Any], body: bytes) -> bool:
        """Return whether a request reads the object."""
        ...

    def not_found(self, request: Request) -> Answer:
        """Answer a read as if the object did not exist."""
        ...


class Schedule(Protocol):
    """The schedule in force, as the kinds of fault use it."""

    def of_kind(self, name: str) -> list[Entry]:
        """Return the entries of a kind."""
        ...

    def happened(self, entry: Entry) -> None:
        """Count that an entry of `of_kind` has happened."""
        ...

    def hide(self, hidden: HiddenObject) -> None:
        """Let an object not be found for a while."""
        ...


class Kind:
    """One thing that can happen.

    Attributes:
        name: As `happens` in a schedule has it.
        summary: What happens, in one line for `docs/faults.md`.
        needs_call: Whether it happens to calls; else other parts ask whether it is in force.
        keys: Keys of the schedule that it knows besides `happens`, and `call`, `nth` and `times`
            where it happens to calls.
        required: Those of `keys` that must be there.
        happens_inside: Whether it also happens to calls that a service makes for the user, such as
            the launch of a node by Auto Scaling.
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
        """Return AWS's error, where the fault is one; asked for launches inside the account."""
        return None

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Answer a call that is hit.

        Raises:
            ConnectionResetError: the connection was closed instead.
        """
        raise NotImplementedError(f"{self.name} does not happen to calls")
