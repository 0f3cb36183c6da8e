import pytest

from tests.support.eks import (
    block,
    changed,
    config,
    p5,
    with_odcr,
)
from trainyard.components.capacity.placement import PlacementContradictionError, plan_placement
from trainyard.components.capacity.placement_review import reviewed_placement
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.problems import ROOT, Review

FORCED = {
    "create": {"group": "create"},
    "existing": {"group": "existing", "name": "mine"},
}
forced = pytest.mark.parametrize("placement", FORCED.values(), ids=FORCED)


def planned(raw, *, one_zone=True):
    stack = config(raw)
    pool = stack.architecture.node_groups["p5"]
    reservation = stack.reservations.get(pool.purchase_option)
    return plan_placement(pool, instance_type(pool.instance_type), reservation, one_zone=one_zone)


def open_capacity(**group):
    return p5(purchase_option="on-demand", **group)


def test_a_capacity_block_has_no_placement_group():
    """B7."""
    assert planned(block()).group == "none"


def test_an_aws_assisted_reservation_has_no_placement_group():
    """B10."""
    assert planned(with_odcr({"provenance": "aws-assisted"})).group == "none"


def test_nothing_is_added_to_a_reservation_whose_group_nobody_knows_yet():
    """B10: harmless if AWS created it; the account check reports other cases."""
    assert planned(with_odcr({"provenance": "auto"})).group == "none"


@forced
def test_a_group_that_the_user_names_is_used_until_the_account_says_otherwise(placement):
    plan = planned(with_odcr({"provenance": "auto"}, placement=placement))
    assert (plan.group, plan.name) == (placement["group"], placement.get("name"))


def test_an_own_reservation_made_in_a_group_uses_that_group():
    plan = planned(with_odcr({"placement_group": "training"}))
    assert (plan.group, plan.name) == ("existing", "training")


def test_an_own_reservation_without_a_group_has_none():
    assert planned(with_odcr()).group == "none"


@forced
def test_an_own_reservation_without_a_group_takes_one_that_the_user_names(placement):
    plan = planned(with_odcr(placement=placement))
    assert (plan.group, plan.name) == (placement["group"], placement.get("name"))


def test_a_group_of_own_reservations_made_in_a_placement_group_uses_it():
    raw = changed(
        reservations__block={
            "kind": "odcr-group",
            "group_arn": "arn:aws:resource-groups:us-west-2:123456789012:group/g",
            "placement_group": "training",
        }
    )
    assert planned(raw).name == "training"


def test_on_demand_training_with_efa_in_one_zone_gets_a_new_group():
    """EKX-06."""
    assert planned(open_capacity()).group == "create"


@pytest.mark.parametrize(
    ("raw", "one_zone"),
    [
        pytest.param(open_capacity(workload="inference"), True, id="inference"),
        pytest.param(open_capacity(), False, id="several-zones"),
        pytest.param(open_capacity(efa_enabled=False), True, id="without-efa"),
        pytest.param(
            open_capacity(efa_enabled=False, workload="training"), True, id="training-without-efa"
        ),
        # EC2 has this type with EFA, and in no cluster placement group.
        pytest.param(open_capacity(instance_type="vt1.24xlarge"), True, id="type-without-support"),
        pytest.param(open_capacity(placement={"group": "none"}), True, id="user-says-none"),
    ],
)
def test_other_open_capacity_has_no_group(raw, one_zone):
    assert planned(raw, one_zone=one_zone).group == "none"


@forced
def test_refuses_a_group_on_a_capacity_block(placement):
    """B7: the block already places its instances."""
    with pytest.raises(PlacementContradictionError, match="Capacity Block") as caught:
        planned(p5(placement=placement))
    assert "placement" in caught.value.remedy


@forced
def test_refuses_a_group_on_an_aws_assisted_reservation(placement):
    """B10."""
    with pytest.raises(PlacementContradictionError, match="InsufficientInstanceCapacity"):
        planned(with_odcr({"provenance": "aws-assisted"}, placement=placement))


@pytest.mark.parametrize(
    "placement",
    [*FORCED.values(), {"group": "none"}],
    ids=[*FORCED, "none"],
)
def test_refuses_to_leave_the_group_that_a_reservation_was_made_in(placement):
    """B9: only instances in that group match the reservation."""
    with pytest.raises(PlacementContradictionError, match="'training'"):
        planned(with_odcr({"placement_group": "training"}, placement=placement))


def test_the_reservations_own_group_may_be_named():
    raw = with_odcr(
        {"placement_group": "training"}, placement={"group": "existing", "name": "training"}
    )
    assert planned(raw).name == "training"


@forced
def test_refuses_a_group_over_several_zones(placement):
    """B5."""
    with pytest.raises(PlacementContradictionError, match="several zones"):
        planned(open_capacity(placement=placement), one_zone=False)


@forced
def test_refuses_a_group_for_a_type_that_cannot_launch_into_one(placement):
    """B4."""
    raw = open_capacity(placement=placement, instance_type="t3.large", efa_enabled=False)
    with pytest.raises(PlacementContradictionError, match=r"t3\.large"):
        planned(raw)


@forced
def test_the_review_refuses_a_group_over_several_zones_at_its_key(placement):
    pool = config(open_capacity(placement=placement)).architecture.node_groups["p5"]
    review = Review(stack_file="Pulumi.p5.yaml")
    found = instance_type(pool.instance_type)
    assert reviewed_placement("pools.p5", pool, found, None, review, one_zone=False) is None
    (problem,) = review.problems
    assert problem.path == f"{ROOT}.pools.p5.placement.group"
    assert problem.found == " ".join(placement.values())
    assert reviewed_placement("pools.p5", pool, found, None, review, one_zone=True)


def test_every_decision_says_why():
    for raw in (block(), with_odcr(), open_capacity()):
        assert planned(raw).reason
