"""Which reservations can be released.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from trainyard.capacity.reservation_list import ListedReservation
from trainyard.capacity.wording import both
from trainyard.components.account.facts import ReservationFacts
from trainyard.components.config.problems import Problem

CANCEL = "ec2:CancelCapacityReservation"
_RELEASABLE = ("active", "pending", "assessing", "delayed")
_ALLOCATION = "aws ec2 update-interruptible-capacity-reservation-allocation"


def release_problems(found: ListedReservation, now: datetime) -> Iterator[Problem]:
    """Yield why a reservation cannot be released."""
    facts = found.facts
    if facts.kind == "capacity-block":
        yield Problem(
            path="RESERVATION",
            problem="it is a Capacity Block, which AWS neither cancels nor refunds",
            found=facts.reservation_id,
            remedy=(
                "use it until its end; to run no nodes in it, set the number of nodes to 0 and run "
                "`up`"
            ),
        )
        return
    if not found.is_own:
        yield Problem(
            path="RESERVATION",
            problem=f"only its owner, the account {facts.owner_id}, can release it",
            found=facts.reservation_id,
            remedy="ask the owner; leave the share with `aws ram disassociate-resource-share`",
        )
        return
    if facts.interruptible or facts.lent_to:
        yield _allocated(facts)
        return
    committed = facts.committed_until
    is_committed = committed is not None and committed > now and facts.state == "active"
    if facts.state not in _RELEASABLE or is_committed:
        until = f", and you are committed to it until {both(committed)}" if committed else ""
        yield Problem(
            path="RESERVATION",
            problem=(f"it is {facts.state}{until}: EC2 cancels it only for a charge, with a quote"),
            found=facts.reservation_id,
            remedy=(
                "look at the charge with `aws ec2 create-capacity-reservation-cancellation-quote "
                f"--capacity-reservation-id {facts.reservation_id}`, and cancel it with the quote"
            ),
        )


def _allocated(facts: ReservationFacts) -> Problem:
    """Return the problem of an interruptible reservation, or of the source of one.

    Only the allocation of the source changes an interruptible reservation. What becomes of it when
    its source is cancelled is not documented.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/interruptible-capacity-reservations.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-owner-procedures.html
    """
    source = (facts.source_id or "cr-…") if facts.interruptible else facts.reservation_id
    return Problem(
        path="RESERVATION",
        problem=(
            "it is interruptible: EC2 takes its instances back only through its source"
            if facts.interruptible
            else f"the interruptible reservation {facts.lent_to} has instances of it"
        ),
        found=facts.reservation_id,
        remedy=(
            f"take them back with `{_ALLOCATION} --capacity-reservation-id {source} "
            "--target-instance-count 0`; instances in the interruptible reservation are terminated "
            "two minutes after a notice"
        ),
    )
