"""Kinds of fault in which the client gets no response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.sandbox.faults.kind import Kind, Request, Schedule
from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.faults.fault import Fault


class NoAnswer(Kind):
    """A call whose connection is closed before the response.

    Attributes:
        work_is_done: Whether the account has processed the request by then.
    """

    work_is_done: bool = False

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Process the request if `work_is_done`, apply further effects, close the connection."""
        if self.work_is_done:
            request.answered()
        self.happen_besides(fault, request)
        return request.drop()

    def happen_besides(self, fault: Fault, request: Request) -> None:
        """Apply effects in addition to the lost response; none by default."""


class ConnectionReset(NoAnswer):
    """The request is lost."""

    name = "connection-reset"
    summary = "the connection is reset, and nothing is done"


class DoneWithoutAnswer(NoAnswer):
    """The response is lost."""

    name = "done-without-answer"
    summary = "the work is done, and the connection is closed before the answer"
    work_is_done = True
