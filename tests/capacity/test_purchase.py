from datetime import UTC, datetime

import pytest

from tests.support.eks import (
    RESERVATION,
    block,
    changed,
    config,
    with_created_odcr,
    with_odcr,
)
from trainyard.components.capacity.plan import CreationPlan
from trainyard.components.capacity.purchase import plan_capacity

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/training"


def planned(raw, purchase_option="block"):
    return plan_capacity(purchase_option, config(raw).reservations)


def test_a_capacity_block_names_market_reservation_and_zone():
    """D2, D3, EKN-11: market type and reservation go together."""
    plan = planned(block())
    assert (plan.market_type, plan.reservation_id) == ("capacity-block", RESERVATION)
    assert plan.availability_zone == "us-west-2b"
    assert plan.eks_capacity_type == "CAPACITY_BLOCK"


def test_an_odcr_is_targeted_by_id_and_has_no_market():
    """EKS-14."""
    plan = planned(with_odcr())
    assert (plan.market_type, plan.reservation_id) == (None, RESERVATION)
    assert plan.eks_capacity_type == "ON_DEMAND"


def test_a_group_of_odcrs_is_targeted_by_arn():
    raw = changed(reservations__block={"kind": "odcr-group", "group_arn": GROUP_ARN})
    plan = planned(raw)
    assert (plan.reservation_id, plan.reservation_group_arn) == (None, GROUP_ARN)


def test_an_odcr_to_create_has_no_id_before_it_exists():
    plan = planned(with_created_odcr(ends_at="2026-12-24T01:00:00+01:00"))
    assert (plan.kind, plan.reservation_id) == ("odcr", None)
    assert plan.preference == "capacity-reservations-only"
    assert plan.creation == CreationPlan(
        instance_count=2,
        availability_zone="us-west-2b",
        placement_group=None,
        ends_at=datetime(2026, 12, 24, tzinfo=UTC),
        deletion_protection=True,
    )


def test_the_end_of_an_odcr_to_create_is_in_utc():
    """EC2 reads the end of a reservation, which has the suffix Z, in UTC."""
    creation = planned(with_created_odcr(ends_at="2026-12-24T01:00:00+01:00")).creation
    assert f"{creation.ends_at:%Y-%m-%dT%H:%M:%S}" == "2026-12-24T00:00:00"


def test_an_odcr_to_create_is_in_its_placement_group():
    """Only instances in the group in which a reservation was created match it.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    """
    assert planned(with_created_odcr(placement_group="mine")).creation.placement_group == "mine"


def test_an_existing_odcr_whose_size_and_zone_are_known_is_not_created():
    assert planned(with_odcr({"instance_count": 2})).creation is None


def test_the_members_of_a_group_to_make_are_kept():
    raw = changed(reservations__block={"kind": "odcr-group", "members": [RESERVATION]})
    assert planned(raw).reservation_group_members == (RESERVATION,)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(block(), id="capacity-block"),
        pytest.param(with_odcr(), id="odcr"),
        pytest.param(
            changed(reservations__block={"kind": "odcr-group", "group_arn": GROUP_ARN}),
            id="odcr-group",
        ),
    ],
)
def test_every_reservation_is_used_or_the_launch_fails(raw):
    """C8, C10: a group without a match would silently launch On-Demand."""
    plan = planned(raw)
    assert plan.preference == "capacity-reservations-only"
    assert plan.is_reserved


def test_on_demand_asks_for_nothing():
    plan = planned(block(), "on-demand")
    assert (plan.market_type, plan.preference, plan.reservation_id) == (None, None, None)
    assert not plan.is_reserved


def test_spot_asks_for_its_market():
    plan = planned(block(), "spot")
    assert (plan.market_type, plan.eks_capacity_type) == ("spot", "SPOT")


def test_fails_for_a_name_that_is_no_reservation():
    with pytest.raises(KeyError, match="blok"):
        planned(block(), "blok")
