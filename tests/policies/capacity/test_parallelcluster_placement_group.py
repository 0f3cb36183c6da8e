"""Placement groups in the queues of a ParallelCluster (B7, B9, B10, PCx-04, PCx-05)."""

from __future__ import annotations

import pytest

from tests.support.parallelcluster import compute_resource, queue
from tests.support.parallelcluster import p4de_plan as planned
from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    ASSISTED_ID,
    BLOCK_ID,
    OWN_GROUP,
    OWN_ID,
    slurm_cluster,
    slurm_queues,
)
from tests.support.pools import BLOCK, MANAGED_PLACEMENT
from trainyard.components.parallelcluster.resources import ParallelClusterArchitecture
from trainyard.policies.rules.capacity.parallelcluster_placement_group import POLICY

VIOLATING = ((slurm_cluster(PlacementGroup={"Enabled": True}),),)
CLEAN = ((slurm_cluster(PlacementGroup={"Enabled": True, "Name": OWN_GROUP}),),)
CONFIG = {"own_reservations": {OWN_ID: OWN_GROUP}}

STACK = "aws:cloudformation/stack:Stack"


def block_queue(placement, **changes):
    """Return a queue in a Capacity Block."""
    return {
        "Name": "compute-gpu",
        "CapacityType": "CAPACITY_BLOCK",
        "CapacityReservationTarget": {"CapacityReservationId": BLOCK_ID},
        "Networking": {"PlacementGroup": placement},
        "ComputeResources": [{"Name": "p5", **changes}],
    }


@pytest.mark.parametrize(
    "placement",
    [{"Enabled": True}, {"Enabled": "true"}, {"Name": "mine"}, {"Enabled": True, "Id": "pg-1"}],
    ids=["managed", "as-text", "named-alone", "by-id"],
)
def test_fails_for_a_placement_group_with_a_capacity_block(placement):
    """ParallelCluster itself only warns."""
    (message,) = check(POLICY, slurm_queues(block_queue(placement))).messages
    assert message.startswith("pc-deployment: in its compute resource compute-gpu/p5, it launches")
    assert "Capacity Block" in message


def test_fails_for_a_placement_group_beside_a_reservation_that_aws_made():
    """[D] of PCx-04: every p4de template had both."""
    made = slurm_cluster(ASSISTED_ID, PlacementGroup={"Enabled": True})
    config = {"assisted_reservations": [ASSISTED_ID]}
    (message,) = check(POLICY, made, config=config).messages
    assert ASSISTED_ID in message


def test_fails_for_a_group_of_the_compute_resource_itself():
    made = slurm_queues(
        block_queue({"Enabled": False}, Networking={"PlacementGroup": {"Enabled": True}})
    )
    assert len(check(POLICY, made).messages) == 1


def test_every_compute_resource_at_fault_is_named():
    queues = [block_queue({"Enabled": True}), {**block_queue({"Enabled": True}), "Name": "other"}]
    (message,) = check(POLICY, slurm_queues(*queues)).messages
    assert message.startswith(
        "pc-deployment: in its compute resource compute-gpu/p5 (also other/p5), "
    )


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(slurm_queues(block_queue({"Enabled": False})), id="block-without-group"),
        pytest.param(slurm_queues(block_queue({"Enabled": "false"})), id="said-as-text"),
        pytest.param(slurm_cluster(PlacementGroup={"Name": OWN_GROUP}), id="own-group"),
        pytest.param(slurm_cluster(), id="nothing-said"),
        pytest.param(
            slurm_queues(
                {
                    "Name": "od",
                    "Networking": {"PlacementGroup": {"Enabled": True}},
                    "ComputeResources": [{"Name": "a"}],
                }
            ),
            id="on-demand",
        ),
        pytest.param(Declared(STACK, "other", {"templateUrl": "https://x"}), id="no-body"),
        pytest.param(Declared(STACK, "other", {"templateBody": "Resources: {}"}), id="yaml"),
        pytest.param(Declared(STACK, "other", {"templateBody": "[1]"}), id="not-a-template"),
        pytest.param(Declared(STACK, "other", {"templateBody": UNKNOWN}), id="not-known-yet"),
        pytest.param(
            Declared(STACK, "other", {"templateBody": '{"Resources": {"A": {"Type": "X::Y"}}}'}),
            id="something-else",
        ),
    ],
)
def test_passes(made):
    found = check(POLICY, made, config=CONFIG)
    assert (found.messages, found.undecided) == ([], [])


def test_what_the_program_renders_is_what_the_rule_reads(deploy):
    """A rule for other keys than the renderer's would never find anything."""
    wrong = compute_resource("p5", capacity=BLOCK, placement=MANAGED_PLACEMENT)
    plan = planned(queues=(queue("compute-gpu", wrong, capacity=BLOCK),))
    cloud = deploy(lambda: ParallelClusterArchitecture(plan.name, plan))
    (stack,) = cloud.of_type(STACK)
    (message,) = check(POLICY, Declared(STACK, stack.name, stack.inputs)).messages
    assert "compute-gpu/p5" in message
