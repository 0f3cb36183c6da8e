"""Which reservations can be released.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CancelCapacityReservation.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from components.config.problems import Problem
from tools.capacity.reservation_list import ListedReservation
from tools.capacity.wording import both

CANCEL = "ec2:CancelCapacityReservation"
_RELEASABLE = ("active", "pending", "assessing", "delayed")


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
