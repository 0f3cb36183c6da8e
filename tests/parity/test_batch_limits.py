"""AWS Batch's own limits, which the templates leave to the user: rules G1 to G4."""

from __future__ import annotations

import pytest

from tests.support.parity import better
from tests.support.stacks import stack_plan
from trainyard.components.batch.address_capacity import addresses_by_subnet
from trainyard.components.config.problems import ConfigError

STACKS = ("batch-p4d", "batch-p5", "batch-trn1")
P4D = "architecture__compute_environments__p4d"
JOB = "architecture__job_definitions__nccl-tests"
ON_DEMAND = {f"{P4D}__purchase_option": "on-demand", "reservations": ...}


@better(
    "G1",
    "Multi-node jobs on managed EC2 environments without Spot, of one type, on up to 1,000 nodes",
    why="nothing else can be asked for, or it is refused before anything is made",
)
def test_jobs_of_several_nodes_run_where_batch_runs_them(batch):
    for stack in STACKS:
        made = batch(stack)
        assert (made.environment["type"], made.resources["type"]) == ("MANAGED", "EC2")
        (type_,) = made.resources["instanceTypes"]
        for definition in made.plan.job_definitions:
            if definition.nodes > 1:
                assert made.container(definition.name)["instanceType"] == type_
    with pytest.raises(ConfigError, match="Spot Instances"):
        stack_plan("batch-p4d", **ON_DEMAND | {f"{P4D}__purchase_option": "spot"})
    with pytest.raises(ConfigError, match="at most 1000"):
        stack_plan("batch-p4d", **{f"{JOB}__nodes": 1001})


@better(
    "G2",
    "Multi-node jobs in one zone, in a cluster placement group",
    why="several zones are refused; the group is made where no reservation places the nodes",
)
def test_jobs_of_several_nodes_stay_in_one_zone(batch):
    for stack in STACKS:
        assert len(batch(stack).resources["subnets"]) == 1
    groups = {s: batch(s).cloud.of_type("aws:ec2/placementGroup:PlacementGroup") for s in STACKS}
    assert {s: len(found) for s, found in groups.items()} == {
        "batch-p4d": 0,
        "batch-p5": 0,
        "batch-trn1": 1,
    }
    for efa in (True, False):
        with pytest.raises(ConfigError, match=r"one zone|leave a zone"):
            stack_plan("batch-p4d", **ON_DEMAND | {f"{P4D}__efa_enabled": efa})


@better(
    "G3",
    "At most five security groups; each container has an interface in the subnet of its node",
    why="one group, in the environment or in the template and never in both; the address of each "
    "container is counted, and the group that Batch gives it is looked at",
)
def test_containers_find_an_address_and_a_group(batch, changed_batch):
    for stack in STACKS:
        made = batch(stack)
        assert "securityGroupIds" not in made.resources
        groups = {g for each in made.template["networkInterfaces"] for g in each["securityGroups"]}
        assert groups == {f"{stack}-nodes-group-id"}
        assert made.plan.jobs_in_default_group
    without = changed_batch("batch-p4d", **{f"{P4D}__efa_enabled": False})
    assert without.resources["securityGroupIds"] == ["batch-p4d-nodes-group-id"]
    assert "networkInterfaces" not in without.template
    assert not without.plan.jobs_in_default_group
    (need,) = addresses_by_subnet(batch("batch-p5").plan).values()
    assert need.addresses == 2 * (1 + 1)


@better(
    "G4",
    "Room for one node at least, and minimum, desired and maximum vCPUs in this order",
    why="counted in nodes, so that vCPUs are whole nodes; Batch moves the desired ones itself",
)
def test_sizes_are_whole_nodes(batch):
    for stack in STACKS:
        made = batch(stack)
        vcpus = made.plan.compute_environments[0].instance_type.vcpus
        assert made.resources["minVcpus"] <= made.resources["maxVcpus"]
        assert made.resources["maxVcpus"] >= vcpus
        assert made.resources["maxVcpus"] % vcpus == made.resources["minVcpus"] % vcpus == 0
        assert "desiredVcpus" not in made.resources
    for sizes in ({"minimum": 3, "maximum": 2}, {"maximum": 0}):
        with pytest.raises(ConfigError, match="maximum"):
            stack_plan("batch-p4d", **{f"{P4D}__{key}": value for key, value in sizes.items()})
