"""What the pack says of itself at the end of a stack: suppressions and lookups.

The SDK knows no message but a violation, and every message of a policy has the policy's level. So
these are policies of their own, that judge the configuration and not a resource.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pulumi_policy import (
    EnforcementLevel,
    ReportViolation,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.reservation_lookup import ReservationLookup
from policies.suppressions import Ledger

Messages = Callable[[], Iterator[tuple[str | None, str]]]
"""Gives URNs (None for the stack) and messages."""


def announcements(ledger: Ledger, lookup: ReservationLookup) -> list[StackValidationPolicy]:
    """Return the policies that must stand behind every rule: they tell what the rules met."""

    def use() -> Iterator[tuple[str | None, str]]:
        yield from ledger.used()
        yield from ((None, message) for message in ledger.unused())

    def expiry() -> Iterator[tuple[str | None, str]]:
        return ((None, message) for message in ledger.expired())

    def failures() -> Iterator[tuple[str | None, str]]:
        return ((None, message) for message in lookup.failures)

    return [
        StackValidationPolicy(
            name="suppressions",
            display_name="Suppressions in use",
            description="Tells which violations are suppressed, and which suppressions are idle.",
            enforcement_level=EnforcementLevel.ADVISORY,
            severity=Severity.LOW,
            tags=["pack"],
            remediation_steps="Mend the resource before the last day of the suppression.",
            validate=_telling(use),
        ),
        StackValidationPolicy(
            name="expired-suppressions",
            display_name="No suppression has expired",
            description="A suppression holds until its last day and is an error after it.",
            enforcement_level=EnforcementLevel.MANDATORY,
            severity=Severity.MEDIUM,
            tags=["pack"],
            remediation_steps="Mend the resource and remove the suppression, or extend it.",
            validate=_telling(expiry),
        ),
        StackValidationPolicy(
            name="account-lookup",
            display_name="Reservations were looked up",
            description="Tells why the account was not asked where the configuration allows it.",
            enforcement_level=EnforcementLevel.ADVISORY,
            severity=Severity.LOW,
            tags=["pack"],
            remediation_steps="Allow ec2:DescribeCapacityReservations, or declare reservations.",
            validate=_telling(failures),
        ),
    ]


def _telling(messages: Messages) -> Callable[[StackValidationArgs, ReportViolation], None]:
    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        known = {resource.urn for resource in args.resources}
        for urn, message in messages():
            report_violation(message, urn if urn in known else None)

    return validate
