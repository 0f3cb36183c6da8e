"""Reviews of type, purchase and zone of nodes, for every architecture."""

import pytest

from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    purchase_options,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_reserved_zone,
    review_usage_class,
    review_zone_region,
)
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock

KEY = "architecture.pool"
RESERVATIONS = {"block": CapacityBlock(kind="capacity-block", reservation_id="cr-" + "0" * 17)}


@pytest.fixture
def review() -> Review:
    return Review(stack_file="Pulumi.p5.yaml")


def test_a_type_that_the_catalog_knows_is_returned(review: Review):
    found = review_instance_type(review, KEY, "p5.48xlarge")
    assert found is instance_type("p5.48xlarge")
    assert not review.problems


def test_an_unknown_type_is_refused_with_the_nearest(review: Review):
    assert review_instance_type(review, KEY, "p5.48xlage") is None
    (problem,) = review.problems
    assert "p5.48xlarge" in (problem.allowed or "")
    assert problem.remedy.endswith("pool.instance_type' p5.48xlarge")


def test_a_type_of_ultraservers_that_no_stack_can_use_says_why(review: Review):
    assert review_instance_type(review, KEY, "p6e-gb200.36xlarge") is None
    (problem,) = review.problems
    assert "needs an IMEX domain (docs/capacity.md#ultraservers)" in problem.problem
    assert review_instance_type(review, KEY, "trn2u.48xlarge") is not None


def test_an_unknown_purchase_option_is_refused_with_the_nearest(review: Review):
    assert not review_purchase_option(review, KEY, "blok", RESERVATIONS)
    (problem,) = review.problems
    assert problem.allowed == ", ".join(purchase_options(RESERVATIONS))
    assert problem.remedy.endswith("pool.purchase_option' block")


@pytest.mark.parametrize("option", ["on-demand", "spot", "block"])
def test_every_known_purchase_option_passes(option: str, review: Review):
    assert review_purchase_option(review, KEY, option, RESERVATIONS)
    assert not review.problems


def test_a_block_of_a_type_that_has_none_is_refused(review: Review):
    review_usage_class(review, KEY, "block", RESERVATIONS, instance_type("g4dn.8xlarge"))
    (problem,) = review.problems
    assert "capacity-block" in problem.problem


def test_a_block_of_a_type_that_has_blocks_passes(review: Review):
    review_usage_class(review, KEY, "block", RESERVATIONS, instance_type("p5.48xlarge"))
    assert not review.problems


def test_spot_nodes_of_a_type_that_ec2_sells_on_demand_only_are_refused(review: Review):
    """https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-spot-instances-request.html."""
    review_usage_class(review, KEY, "spot", {}, instance_type("hpc7a.96xlarge"))
    (problem,) = review.problems
    assert problem.allowed == "for hpc7a.96xlarge: on-demand"


def test_efa_on_a_type_without_is_refused_with_types_of_its_family(review: Review):
    assert not review_efa_support(review, KEY, instance_type("g4dn.xlarge"))
    assert "g4dn.8xlarge" in (review.problems[0].allowed or "")
    assert review_efa_support(review, KEY, instance_type("g4dn.8xlarge"))


@pytest.mark.parametrize(
    ("zone", "noted"),
    [("use1-az1", True), ("usw2-az4", False), ("us-east-1a", False), (None, False)],
)
def test_only_an_unlisted_zone_id_is_noted(zone: str | None, *, noted: bool, review: Review):
    """PR-40: zone names cannot be resolved offline."""
    note_unlisted_zone(review, "queue", zone, instance_type("trn1.32xlarge"))
    assert bool(review.notes) == noted
    assert not review.problems


@pytest.mark.parametrize(
    ("zone", "refused"),
    [
        ("us-east-1a", True),
        ("us-west-2a", False),
        ("use1-az4", True),
        ("usw2-az1", False),
        ("xyz1-az1", False),
        (None, False),
    ],
)
def test_a_zone_of_another_region_is_refused(zone: str | None, *, refused: bool, review: Review):
    review_zone_region(review, KEY, zone, "us-west-2")
    assert bool(review.problems) == refused


def test_a_zone_of_a_region_that_does_not_exist_is_answered_with_the_one_that_is_meant(
    review: Review,
):
    review_zone_region(review, KEY, "us-wst-2b", "us-west-2")
    (problem,) = review.problems
    assert problem.problem == "names us-wst-2, which is not a region"
    assert problem.remedy.endswith(" us-west-2b")


def test_a_zone_of_another_region_is_not_answered_with_a_zone_that_nobody_meant(review: Review):
    review_zone_region(review, KEY, "us-east-1b", "us-west-2")
    (problem,) = review.problems
    assert problem.remedy == "change the zone, or `aws:region`"


@pytest.mark.parametrize(
    ("reserved", "refused"),
    [("us-west-2b", True), ("us-west-2a", False), ("usw2-az1", False), (None, False)],
)
def test_only_another_zone_of_the_same_spelling_contradicts_a_reservation(
    reserved: str | None, *, refused: bool, review: Review
):
    review_reserved_zone(review, KEY, "us-west-2a", "block", reserved, what="this pool")
    assert bool(review.problems) == refused


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("p5.48xlrage", "instance_type' p5.48xlarge"),
        ("p4de24xlarge", "instance_type' p4de.24xlarge"),
        ("p5.24xlarge", "for example to `p5.4xlarge`"),
        ("zzz", "for example to `p5.48xlarge`"),
    ],
)
def test_only_a_slip_of_typing_has_a_type_as_command(name: str, fix: str, review: Review):
    review_instance_type(review, KEY, name)
    (problem,) = review.problems
    assert problem.remedy.endswith(fix)
