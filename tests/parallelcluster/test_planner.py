"""From a stack file to the whole plan of a ParallelCluster stack."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.parallelcluster import raw_g4dn, raw_p4de, raw_trn1
from tests.support.stack_files import (
    PRIVATE_A,
    PRIVATE_B,
    RESERVATION,
    plan_from,
    refusals,
)
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.config.problems import ConfigError
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.planner import provider_template_url

SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/01234567-89ab-cdef-0123-456789abcdef"


def test_the_p4de_stack_has_a_whole_plan():
    """PC-01 to PC-17."""
    plan = plan_from(raw_p4de())
    assert plan.version == PARALLELCLUSTER_VERSION
    assert plan.tags["trainyard:cluster"] == plan.name == "pc-p4de"
    assert [each.type for each in plan.shared_storage] == ["Ebs", "FsxLustre"]
    assert [queue.name for queue in plan.queues] == ["compute-gpu"]
    assert plan.deployment.stack_name == "pc-p4de-deployment"
    assert plan.deployment.provider_template_url == provider_template_url("us-west-2")


def test_the_cluster_is_never_named_as_its_stack():
    """Section 3.3 of the parity tables: ParallelCluster creates a stack with the cluster's name."""
    plan = plan_from(raw_g4dn())
    assert plan.deployment.stack_name != plan.name


@pytest.mark.parametrize(
    ("region", "host"),
    [
        ("us-west-2", "us-west-2-aws-parallelcluster.s3.us-west-2.amazonaws.com"),
        ("cn-north-1", "cn-north-1-aws-parallelcluster.s3.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_the_provider_comes_from_the_bucket_of_the_region(region: str, host: str):
    url = provider_template_url(region)
    assert url.startswith(f"https://{host}/parallelcluster/{PARALLELCLUSTER_VERSION}/")


def test_every_problem_comes_at_once():
    raw = raw_g4dn(
        name="pc_g4dn",
        architecture__head_node__instance_type="m5.hugh",
        architecture__slurm={"settings": {"Prolog": "x"}},
    )
    assert set(refusals(raw)) == {
        "name",
        "architecture.head_node.instance_type",
        "architecture.slurm.settings.Prolog",
    }


def test_the_share_of_a_reservation_that_is_used_is_accepted():
    """PR-08."""
    raw = raw_p4de(reservations__p4de__resource_share_arn=SHARE)
    assert plan_from(raw).resource_shares == {"p4de": SHARE}
    raw["architecture"]["queues"]["compute-gpu"]["purchase_option"] = "on-demand"
    raw["architecture"]["queues"]["compute-gpu"]["availability_zone"] = "us-west-2b"
    assert not plan_from(raw).resource_shares


def test_an_unused_reservation_is_noted_in_words_of_the_architecture():
    raw = raw_g4dn(reservations={"spare": {"kind": "odcr", "reservation_id": RESERVATION}})
    assert "reservation spare: no compute resource uses it" in plan_from(raw).notes


def test_a_queue_that_is_spread_counts_every_subnet():
    assert plan_from(raw_g4dn()).queues[0].subnets == (PRIVATE_A, PRIVATE_B)


PURCHASES = st.sampled_from(["on-demand", "spot", "own", "grouped", "assisted", "pool", "block"])
PLACEMENTS = st.sampled_from(
    [{}, {"group": "none"}, {"group": "create"}, {"group": "existing", "name": "mine"}]
)
RESERVATIONS: dict[str, Any] = {
    "own": {"kind": "odcr", "reservation_id": f"{RESERVATION[:-1]}1"},
    "grouped": {
        "kind": "odcr",
        "reservation_id": f"{RESERVATION[:-1]}2",
        "placement_group": "mine",
    },
    "assisted": {
        "kind": "odcr",
        "reservation_id": f"{RESERVATION[:-1]}3",
        "provenance": "aws-assisted",
    },
    "pool": {"kind": "odcr-group", "members": [f"{RESERVATION[:-1]}4"]},
    "block": {"kind": "capacity-block", "reservation_id": f"{RESERVATION[:-1]}5"},
}
PLACES = st.sampled_from(
    [
        {},
        {"subnet_ids": [PRIVATE_A]},
        {"subnet_ids": [PRIVATE_A, PRIVATE_B]},
        {"availability_zone": "us-west-2a"},
    ]
)
RESOURCES = st.fixed_dictionaries(
    {
        "instance_type": st.sampled_from(["p5.48xlarge", "g4dn.8xlarge", "c5.4xlarge"]),
        "minimum": st.integers(0, 2),
        "maximum": st.integers(1, 3),
        "efa_enabled": st.booleans(),
        "placement": PLACEMENTS,
    },
    optional={"purchase_option": PURCHASES},
)


@settings(max_examples=300, deadline=None)
@given(
    purchase=PURCHASES,
    place=PLACES,
    resources=st.dictionaries(st.sampled_from(["one", "two"]), RESOURCES, min_size=1),
    strategy=st.sampled_from([None, "lowest-price", "capacity-optimized"]),
)
def test_no_stack_that_has_a_plan_contradicts_itself(
    purchase: str, place: dict[str, Any], resources: dict[str, Any], strategy: str | None
):
    """Section 3.4 of the parity tables: ParallelCluster's validators accept the plan."""
    queue = {"purchase_option": purchase, "compute_resources": resources, **place}
    if strategy is not None:
        queue["allocation_strategy"] = strategy
    raw = raw_g4dn(reservations=RESERVATIONS, architecture__queues={"compute": queue})
    try:
        plan = plan_from(raw)
    except ConfigError:
        return
    assert_no_contradiction(plan)


def assert_no_contradiction(plan: ParallelClusterPlan) -> None:
    (queue,) = plan.queues
    for resource in queue.compute_resources:
        capacity, placement = resource.capacity, resource.placement
        assert capacity.market_type == queue.capacity.market_type
        assert resource.minimum <= resource.maximum
        if capacity.kind == "capacity-block":
            assert placement.group == "none"
            assert resource.minimum == resource.maximum > 0
            assert capacity.reservation_id
        if capacity.purchase_option == "assisted":
            assert placement.group == "none"
        if capacity.purchase_option == "grouped":
            assert placement.name == "mine"
        if capacity.reservation_id or capacity.reservation_group_members:
            assert queue.config.allocation_strategy is None
        if resource.efa_enabled:
            assert resource.instance_type.efa_supported


@pytest.mark.parametrize("raw", [raw_g4dn(), raw_p4de(), raw_trn1()])
def test_the_examples_of_the_tests_have_plans(raw: dict[str, Any]):
    assert not refusals(raw)
