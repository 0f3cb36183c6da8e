"""Kinds of fault that return an AWS error and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

from trainyard.sandbox.faults import service_errors
from trainyard.sandbox.faults.kind import Kind, Refusal, Request, Schedule
from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.faults.fault import Fault

Lookup = Callable[[str, str], Refusal | None]


class RefusedCall(Kind):
    """A call that returns an error.

    Args:
        name: Name in the schedule.
        summary: One line of text.
        error: Returns the error of a service's operation; None if it has no such error.
        happens_inside: See `Kind`.
    """

    def __init__(
        self, name: str, summary: str, error: Lookup, *, happens_inside: bool = True
    ) -> None:
        self.name, self.summary, self._error = name, summary, error
        self.happens_inside = happens_inside

    def happens_to(self, service: str, operation: str) -> bool:
        """Return whether the operation has this error."""
        return self._error(service, operation) is not None

    def refusal(self, service: str, operation: str) -> Refusal | None:
        """Return the error."""
        return self._error(service, operation)

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """Respond with the error, in the protocol of the call."""
        from trainyard.sandbox.aws.unimplemented import error_response

        error = self._error(request.call.service, request.call.operation)
        if error is None:
            return request.answered()
        status = f"{error.status} {HTTPStatus(error.status).phrase.upper()}"
        return error_response(request.call, error.code, error.message, status)


REFUSALS = (
    RefusedCall(
        "throttled", "too many requests: the service's throttling error", service_errors.throttled
    ),
    RefusedCall(
        "internal-error", "the service's internal error, HTTP 500", service_errors.internal_error
    ),
    RefusedCall(
        "insufficient-capacity",
        "AWS has no machines of the type in the zone",
        service_errors.insufficient_capacity,
    ),
    RefusedCall(
        "quota-exceeded", "a quota of the account is used up", service_errors.quota_exceeded
    ),
    RefusedCall(
        "credentials-expired",
        "the session's credentials have expired",
        service_errors.credentials_expired,
        happens_inside=False,
    ),
    RefusedCall(
        "role-not-usable-yet",
        "a service does not see a new role or profile of IAM yet",
        service_errors.role_not_usable_yet,
    ),
)
