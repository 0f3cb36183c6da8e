"""Every stack file of the repository, in the complete program."""

import re

import pytest

from tests.support.stack_lives import LIVED_ELSEWHERE, STACK_LIVES
from tests.support.stacks import (
    BATCH_STACKS,
    EKS_STACKS,
    NETWORK_STACKS,
    PARALLELCLUSTER_STACKS,
    STACKS,
    program_of,
    render,
)
from tests.support.tracked import ROOT

GOLDENS = ROOT / "tests" / "goldens" / "stacks"
KINDS = {
    **dict.fromkeys(EKS_STACKS, "Eks"),
    **dict.fromkeys(PARALLELCLUSTER_STACKS, "ParallelCluster"),
    **dict.fromkeys(BATCH_STACKS, "Batch"),
    **dict.fromkeys(NETWORK_STACKS, "Network"),
}


@pytest.fixture
def built(deploy):
    """Run the program on a stack file and return the registered resources."""
    return lambda stack: deploy(program_of(stack), stack=stack)


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_file_registers_what_its_golden_says(built, golden, stack):
    golden(f"stacks/{stack}.yaml", render(built(stack)))


@pytest.mark.parametrize("stack", PARALLELCLUSTER_STACKS)
def test_a_stack_file_s_cluster_configuration_is_its_golden(built, golden, stack):
    """Output of `./trainyard artifact <stack> cluster-config`."""
    golden(f"clusters/{stack}.yaml", built(stack).exports["cluster_config"])


@pytest.mark.parametrize("stack", STACKS)
def test_the_same_stack_file_registers_the_same_twice(built, stack):
    assert render(built(stack)) == render(built(stack))


@pytest.mark.parametrize("stack", STACKS)
def test_children_stay_inside_their_components(built, stack):
    cloud = built(stack)
    urns = {made.urn for made in cloud.registered}
    roots = [made for made in cloud.registered if made.parent not in urns]
    assert [made.type for made in roots] == [f"trainyard:architectures:{KINDS[stack]}Architecture"]
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)


@pytest.mark.parametrize("stack", STACKS)
def test_no_security_group_is_tagged_for_a_cluster(built, stack):
    """Pain 13: the security group of EKS is the only one."""
    groups = built(stack).of_type("aws:ec2/securityGroup:SecurityGroup")
    assert not [key for made in groups for key in made.inputs["tags"] if "kubernetes.io" in key]


def test_every_type_of_resource_is_in_a_whole_life():
    """The other stacks only come up and go in the sandbox."""

    def types(stacks):
        texts = ((GOLDENS / f"{stack}.yaml").read_text(encoding="utf-8") for stack in stacks)
        return {found for text in texts for found in re.findall(r"^- type: (\S+)$", text, re.M)}

    whole = LIVED_ELSEWHERE | {life.stack for life in STACK_LIVES if life.is_whole}
    assert types(STACKS)
    assert types(STACKS) <= types(whole)


def test_the_p5_capacity_block_stack_is_the_old_template_put_right(built):
    """EKS-01, EKS-06, EKS-08, EKS-10, EKS-12, EKN-02, EKN-03, EKN-13, DF-13, DF-15."""
    cloud = built("p5-cb")
    assert cloud.one("p5-cb-eks").inputs["name"] == "p5-cb"
    group = cloud.one("p5-cb-p5-nodes").inputs
    assert (group["minSize"], group["desiredCapacity"], group["maxSize"]) == (0, 2, 2)
    assert group["vpcZoneIdentifiers"] == ["subnet-0b000000000000002"]
    template = cloud.one("p5-cb-p5-launch-template").inputs
    assert template["instanceType"] == "p5.48xlarge"
    assert len(template["networkInterfaces"]) == 33
    assert template["blockDeviceMappings"][0]["ebs"]["volumeSize"] == 500
    assert "placement" not in template
    assert cloud.of_type("aws:ec2/placementGroup:PlacementGroup") == []
    system = cloud.one("p5-cb-system-node-group").inputs
    assert system["subnetIds"] == ["subnet-0a000000000000002", "subnet-0b000000000000002"]


def test_nodes_of_the_block_leave_40_minutes_before_its_end(built):
    """EKN-16: the block of the sandbox's account ends six days from now."""
    (down,) = built("p5-cb").of_type("aws:autoscaling/schedule:Schedule")
    assert down.inputs["startTime"] == "2026-12-07T11:20:00Z"
