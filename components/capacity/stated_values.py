"""What a stack file says of the start and the owner of existing reservations, against EC2."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from trainyard.components.account.check import Check
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.capacity.reservations import own_placement_group, reservations_of_kind
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig


def start_problems(given: StackConfig, facts: AccountFacts, now: datetime) -> Iterator[Problem]:
    """Yield starts earlier than that of a block which has not started.

    Nodes would launch when EC2 launches nothing into it yet.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
    """
    for name, asked in given.reservations.items():
        if not isinstance(asked, CapacityBlock) or asked.starts_at is None:
            continue
        for found in reservations_of_kind(asked, facts):
            if found.starts_at is not None and max(now, asked.starts_at) < found.starts_at:
                yield Problem(
                    path=f"{ROOT}.reservations.{name}.starts_at",
                    found=str(asked.starts_at),
                    problem="the block starts later: nodes would launch before, and fail",
                    allowed=f"{found.starts_at} or later",
                    remedy="remove it: the start is read from the account",
                )


def provenance_problems(given: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield reservations that the stack file calls `aws-assisted` and that are in an own group.

    Their nodes are planned without a placement group, and only instances in the group launch into
    the reservation: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    """
    for name, asked in given.reservations.items():
        if isinstance(asked, CapacityBlock) or asked.provenance != "aws-assisted":
            continue
        for found in reservations_of_kind(asked, facts):
            group = own_placement_group(found, facts.account_id) if facts.account_id else None
            if group is not None:
                yield Problem(
                    path=f"{ROOT}.reservations.{name}.provenance",
                    found=f"aws-assisted; {found.reservation_id} is in the placement group {group}",
                    problem=(
                        "this account owns the placement group of the reservation, and only "
                        "instances in that group launch into it; nodes of an `aws-assisted` "
                        "reservation have no group"
                    ),
                    allowed="own, or auto",
                    remedy=f"set provenance to own and placement_group to {group}; or auto",
                )


def stated_reservation_checks(known: Known[Any, Any]) -> Iterator[Check]:
    """Yield the checks of start and provenance in the original stack file."""
    given, facts = known.given, known.facts
    problems = [*start_problems(given, facts, known.now), *provenance_problems(given, facts)]
    yield Check("values of reservations", problems)
