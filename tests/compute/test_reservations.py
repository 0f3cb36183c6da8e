"""Reservations and groups of reservations that a stack creates for its node pools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pulumi
import pytest

from tests.support import batch
from tests.support.pools import CREATED_ODCR, ON_DEMAND
from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.compute.reservations import make_reservations

RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
GROUP = "aws:resourcegroups/group:Group"
ACCEPTER = "aws:ram/resourceShareAccepter:ResourceShareAccepter"
MEMBER = "aws:resourcegroups/resource:Resource"
OF_A_GROUP = CapacityPlan(
    purchase_option="group",
    kind="odcr-group",
    reservation_group_members=("cr-00d00000000000001",),
    preference="capacity-reservations-only",
)


@dataclass(frozen=True)
class Plan:
    node_pools: Sequence[NodePoolPlan]
    region: str = "us-west-2"
    tags: Mapping[str, str] = field(default_factory=dict[str, str])


@pytest.fixture
def made(deploy) -> Callable[..., tuple[object, dict[str, list[str]]]]:
    """Return the resources for pools with these capacities, and the entries that have one."""

    def run(*capacities: CapacityPlan):
        entries: dict[str, list[str]] = {}

        def program() -> None:
            pools = [
                batch.efa_environment(f"pool{number}", "p4d.24xlarge", capacity=capacity)
                for number, capacity in enumerate(capacities)
            ]
            outer = pulumi.ComponentResource("trainyard:test:Outer", "outer")
            share = pulumi.CustomResource(ACCEPTER, "share", {})
            found = make_reservations(
                "dev",
                Plan(pools),
                platform="Red Hat Enterprise Linux",
                opts=pulumi.ResourceOptions(parent=outer),
                after=[share],
            )
            entries.update(ids=[*found.ids], groups=[*found.group_arns])

        return deploy(program), entries

    return run


def test_pools_of_one_entry_share_a_reservation_and_others_have_their_own(made) -> None:
    second = replace(CREATED_ODCR, purchase_option="second")
    cloud, entries = made(CREATED_ODCR, CREATED_ODCR, second)
    assert entries == {"ids": ["first", "second"], "groups": []}
    found = cloud.of_type(RESERVATION)
    assert [each.name for each in found] == ["dev-first-reservation", "dev-second-reservation"]
    assert [each.inputs["tags"]["trainyard:reservation"] for each in found] == ["first", "second"]
    assert {each.inputs["instancePlatform"] for each in found} == {"Red Hat Enterprise Linux"}


def test_pools_of_existing_capacity_create_nothing(made) -> None:
    existing = CapacityPlan(purchase_option="old", kind="odcr", reservation_id="cr-1")
    cloud, entries = made(ON_DEMAND, existing)
    assert entries == {"ids": [], "groups": []}
    assert not cloud.of_type(RESERVATION)
    assert not cloud.of_type(GROUP)


def test_the_members_of_a_group_wait_for_the_shares_of_other_accounts(made) -> None:
    """A shared reservation is visible when the share is accepted.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservation-sharing.html
    """
    cloud, entries = made(OF_A_GROUP)
    assert entries == {"ids": [], "groups": ["group"]}
    (member,) = cloud.of_type(MEMBER)
    assert any(urn.endswith("::share") for urn in member.dependencies)
