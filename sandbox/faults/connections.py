"""Kinds of fault in which the client gets no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.faults.kind import Answer, Kind, Request

if TYPE_CHECKING:
    from sandbox.faults.in_force import InForce
    from sandbox.faults.schedule import Fault


class ConnectionReset(Kind):
    """The request is lost."""

    name = "connection-reset"
    summary = "the connection is reset, and nothing is done"

    def happen(self, fault: Fault, request: Request, faults: InForce) -> Answer:
        """Close the connection."""
        return request.drop()


class DoneWithoutAnswer(Kind):
    """The answer is lost."""

    name = "done-without-answer"
    summary = "the work is done, and the connection is closed before the answer"

    def happen(self, fault: Fault, request: Request, faults: InForce) -> Answer:
        """Do the work and close the connection."""
        request.answered()
        return request.drop()
