"""Queues and compute resources, from the stack file to the plan."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.parallelcluster import first_queue, raw_g4dn, raw_p4de, raw_trn1
from tests.support.stack_files import PRIVATE_A, PRIVATE_B, RESERVATION, refusals

GROUP = "arn:aws:resource-groups:us-west-2:123456789012:group/p4de"
NEW_VPC = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
BLOCK = {"kind": "capacity-block", "reservation_id": RESERVATION, "availability_zone": "us-west-2b"}


def test_the_p4de_queue_launches_into_its_reservation_and_no_group():
    """PC-11, PCx-04, PCx-05: a targeted reservation, which excludes a placement group."""
    queue = first_queue(raw_p4de())
    (training,) = queue.compute_resources
    assert (training.capacity.reservation_id, training.placement.group) == (RESERVATION, "none")
    assert (training.minimum, training.maximum, training.efa_enabled) == (4, 4, True)
    assert (queue.config.exclusive_jobs, queue.config.scratch_directory) == (True, "/local_scratch")


def test_trainium_on_demand_gets_a_group_of_its_own():
    """PR-60: one queue, 0 to 16 nodes."""
    queue = first_queue(raw_trn1())
    (training,) = queue.compute_resources
    assert training.placement.group == "create"
    assert (queue.subnets, training.maximum) == ((PRIVATE_B,), 16)


@pytest.mark.parametrize(
    ("reservation", "kind", "group"),
    [
        ({"kind": "odcr", "reservation_id": RESERVATION}, "odcr", "none"),
        (
            {"kind": "odcr", "reservation_id": RESERVATION, "placement_group": "mine"},
            "odcr",
            "existing",
        ),
        (
            {"kind": "odcr", "reservation_id": RESERVATION, "provenance": "aws-assisted"},
            "odcr",
            "none",
        ),
        (
            {"kind": "odcr-group", "group_arn": GROUP, "availability_zone": "us-west-2b"},
            "odcr-group",
            "none",
        ),
        (BLOCK, "capacity-block", "none"),
    ],
    ids=["own", "own in a group", "AWS-assisted", "group of reservations", "block"],
)
def test_the_placement_follows_from_the_reservation(
    reservation: dict[str, Any], kind: str, group: str
):
    """PR-07, PR-08, pain 1."""
    (training,) = first_queue(raw_p4de(reservations__p4de=reservation)).compute_resources
    assert (training.capacity.kind, training.placement.group) == (kind, group)


def test_a_compute_resource_may_have_a_reservation_of_its_own():
    """PCx-05: the Trainium template names its reservation at the compute resource."""
    raw = raw_trn1(
        reservations={"trn1": {"kind": "odcr", "reservation_id": RESERVATION}},
        **{
            "architecture__queues__compute1__compute_resources__queue1-i1__purchase_option": "trn1",
        },
    )
    queue = first_queue(raw)
    assert queue.capacity.kind == "on-demand"
    assert queue.compute_resources[0].capacity.reservation_id == RESERVATION


def test_open_capacity_spreads_over_every_private_subnet():
    assert first_queue(raw_g4dn()).subnets == (PRIVATE_A, PRIVATE_B)


def test_a_queue_of_a_new_vpc_takes_the_subnet_in_its_zone():
    raw = raw_g4dn(network=NEW_VPC, architecture__queues__compute__availability_zone="us-west-2b")
    queue = first_queue(raw)
    assert queue.subnets == ("private-us-west-2b",)
    assert queue.compute_resources[0].capacity.availability_zone == "us-west-2b"


def test_the_zone_of_one_reservation_is_that_of_the_whole_queue():
    """Subnets belong to the queue."""
    raw = raw_p4de(network=NEW_VPC, storage__fsx__deletion_protection=False)
    resources = raw["architecture"]["queues"]["compute-gpu"]["compute_resources"]
    resources["spare"] = {
        "instance_type": "p4de.24xlarge",
        "maximum": 1,
        "purchase_option": "on-demand",
    }
    assert first_queue(raw).subnets == ("private-us-west-2b",)


def test_a_placement_that_contradicts_is_refused_where_it_stands():
    key = "architecture__queues__compute-gpu__compute_resources__distributed-ml__placement"
    raw = raw_p4de(reservations__p4de=BLOCK, **{key: {"group": "create"}})
    (problem,) = refusals(raw).values()
    assert problem.path.endswith("distributed-ml.placement.group")
    assert "Capacity Block" in problem.problem


def test_nodes_that_send_metrics_have_the_permissions_of_both_agents():
    queue = first_queue({**raw_p4de(), "monitoring": {"node_metrics": "cloudwatch"}})
    names = [arn.rpartition("/")[2] for arn in queue.access.iam_policies]
    assert names[-2:] == ["AmazonSSMManagedInstanceCore", "CloudWatchAgentServerPolicy"]
    assert len(set(names)) == len(names)
    (training,) = queue.compute_resources
    assert training.metrics_tag is not None
    assert training.metrics_tag.endswith("/gpu-efa")
    assert first_queue(raw_p4de()).compute_resources[0].metrics_tag is None
