"""Own, shared and interruptible reservations, as EC2 describes them, and what each reader says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.eks import STACK_FILE
from tests.support.eks_account import ACCOUNT, BLOCK, NOW
from tests.support.reservation_answers import Reader, described
from trainyard.capacity.extension import extension_problems
from trainyard.capacity.reservation_list import (
    ListedReservation,
    listed_reservations,
    release_problems,
)
from trainyard.components.architectures.prepare import examine
from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.init.offers import unusable

OTHER, SOURCE, INTERRUPTIBLE = "999988887777", "cr-0000000000000000a", "cr-0000000000000000b"
OWN_TAGS = [
    {"Key": "trainyard:cluster", "Value": "prod-a"},
    {"Key": "trainyard:reservation", "Value": "training"},
]
ALLOCATED: dict[str, Any] = {
    "InterruptibleCapacityReservationId": INTERRUPTIBLE,
    "InstanceCount": 2,
    "TargetInstanceCount": 2,
    "Status": "active",
    "InterruptionType": "adhoc",
}
BORROWED: dict[str, Any] = {
    "Interruptible": True,
    "InterruptionInfo": {"SourceCapacityReservationId": SOURCE, "InterruptionType": "adhoc"},
}


def four(**changes: Any) -> dict[str, Any]:
    """Return a reservation of four instances, in one of which an instance runs."""
    used = [{"AllocationType": "used", "Count": 1}]
    given = {"AvailableInstanceCount": 3, "CapacityAllocations": used} | changes
    return described(CapacityReservationId=BLOCK, **given)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of reservation, and what the readers say about it."""

    answer: dict[str, Any]
    mine: tuple[str, ...] = ("i-1",)
    """The instance in it, if DescribeInstances shows it to this account."""
    has: int = 4
    """Instances for those that target it."""
    listed: str
    use: str
    creator: str | None = None
    released: str = ""
    """Why it is not released; empty if it is."""
    planned: str = ""
    """Why a stack cannot use it; empty if it can."""


SOURCE_IN_USE = Kind(
    answer=four(AvailableInstanceCount=1, InterruptibleCapacityAllocation=ALLOCATED),
    has=2,
    listed="ODCR",
    use=f"1 of 2: 1 used by prod-a; others lent to {INTERRUPTIBLE}",
    released=f"{INTERRUPTIBLE} has instances of it",
)
"""The source of an interruptible reservation."""
KINDS = {
    "own": Kind(
        answer=four(Tags=OWN_TAGS),
        listed="ODCR",
        use="1 of 4: 1 used by prod-a",
        creator="prod-a",
    ),
    # The owner sees no instance of a consumer, only that it is used.
    "shared-by-me": Kind(
        answer=four(),
        mine=(),
        listed="ODCR",
        use="1 of 4: 1 by instances in other accounts",
    ),
    # The consumer sees how many instances there are and are available, and nothing else.
    "shared-with-me": Kind(
        answer=four(OwnerId=OTHER, CapacityAllocations=[]),
        listed=f"ODCR, shared by {OTHER}",
        use="1 of 4: 1 used by prod-a",
        released=f"only its owner, the account {OTHER}, can release it",
    ),
    # Whatever another account writes into tags, its reservation is none of this account's stacks.
    "shared-with-the-tags-of-a-stack": Kind(
        answer=four(OwnerId=OTHER, Tags=OWN_TAGS),
        mine=(),
        listed=f"ODCR, shared by {OTHER}",
        use="1 of 4: 1 by instances in other accounts",
        released="only its owner",
    ),
    "shared-and-committed": Kind(
        answer=four(
            OwnerId=OTHER, CommitmentInfo={"CommitmentEndDate": datetime(2027, 1, 1, tzinfo=UTC)}
        ),
        listed=f"ODCR, shared by {OTHER}",
        use="1 of 4: 1 used by prod-a",
        released="only its owner",
    ),
    "source-with-all-instances-in-its-total": SOURCE_IN_USE,
    "source-without-the-lent-instances-in-its-total": replace(
        SOURCE_IN_USE,
        answer=four(
            TotalInstanceCount=2,
            AvailableInstanceCount=1,
            InterruptibleCapacityAllocation=ALLOCATED,
        ),
    ),
    "unused-source": replace(
        SOURCE_IN_USE,
        answer=four(
            AvailableInstanceCount=2,
            CapacityAllocations=[],
            InterruptibleCapacityAllocation=ALLOCATED,
        ),
        mine=(),
        use=f"0 of 2; others lent to {INTERRUPTIBLE}",
    ),
    "interruptible": Kind(
        answer=four(**BORROWED),
        listed="ODCR, interruptible",
        use="1 of 4: 1 used by prod-a",
        released="only through its source",
        planned="interruptible",
    ),
    "interruptible-and-shared-with-me": Kind(
        answer=four(OwnerId=OTHER, Interruptible=True),
        listed=f"ODCR, interruptible, shared by {OTHER}",
        use="1 of 4: 1 used by prod-a",
        released="only its owner",
        planned="interruptible",
    ),
}


@pytest.fixture(params=[*KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


def listing(kind: Kind) -> ListedReservation:
    reader: Any = Reader(kind.answer, kind.mine)
    (found,) = listed_reservations(reader, {}, NOW)
    return found


def test_the_list_says_whose_it_is_and_who_uses_it(kind: Kind) -> None:
    found = listing(kind)
    assert (found.kind, found.use, found.creator) == (kind.listed, kind.use, kind.creator)
    assert found.as_json()["owner_id"] == kind.answer["OwnerId"]


def test_one_reason_is_given_why_it_cannot_be_released(kind: Kind) -> None:
    problems = [*release_problems(listing(kind), NOW)]
    assert len(problems) == bool(kind.released)
    assert kind.released in " ".join(each.problem for each in problems)


@pytest.mark.parametrize(("kind", "source"), [("interruptible", SOURCE), ("unused-source", BLOCK)])
def test_lent_instances_are_taken_back_through_the_source(kind: str, source: str) -> None:
    (problem,) = release_problems(listing(KINDS[kind]), NOW)
    assert f"--capacity-reservation-id {source} --target-instance-count 0`" in problem.remedy


def test_stacks_and_init_count_what_nodes_can_use(kind: Kind, configure: Any, facts: Any) -> None:
    found = capacity_lookup.reservation_facts(kind.answer)
    assert found.instance_count == kind.has
    entry = {"kind": "odcr", "reservation_id": BLOCK}
    config = configure(reservations__block=entry)
    account = replace(facts, reservations={BLOCK: found})
    done = examine(config, account, stack_file=STACK_FILE, region="us-west-2", now=NOW)
    assert done.config.reservations["block"].instance_count == kind.has
    said = " ".join(each.problem for each in done.problems)
    assert (kind.planned in said, bool(said)) == (True, bool(kind.planned))
    assert (unusable(found, NOW) is None) == (not kind.planned)


def test_a_shared_block_is_extended_by_its_owner_only() -> None:
    block = four(ReservationType="capacity-block", OwnerId=OTHER)
    (problem,) = extension_problems(capacity_lookup.reservation_facts(block), 24, ACCOUNT, NOW)
    assert OTHER in problem.problem
