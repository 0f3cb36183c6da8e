"""Defects of the VPC and Batch templates, ported as intended: DF-01 to 04, DF-10 to 12."""

from __future__ import annotations

import json

import pytest

from tests.support.batch import only
from tests.support.parity import better

NETWORKS = ("vpc-multi-az", "vpc-one-az")
STACKS = ("batch-p4d", "batch-p5", "batch-trn1")


@better(
    "DF-01", "Flow logs go to a group of the literal name", why="to the group that the stack makes"
)
@pytest.mark.parametrize("stack", NETWORKS)
def test_flow_logs_wait_for_their_group_and_role(network, stack):
    cloud = network(stack).cloud
    log = only(cloud, "aws:ec2/flowLog:FlowLog")
    assert only(cloud, "aws:cloudwatch/logGroup:LogGroup").urn in log.dependencies
    assert cloud.one(f"{stack}-network-flow-logs-role").urn in log.dependencies


@better("DF-02", "A route before its gateway is attached", why="it waits for the attached gateway")
@pytest.mark.parametrize("stack", NETWORKS)
def test_routes_wait_for_their_gateway(network, stack):
    cloud = network(stack).cloud
    route, gateway = (cloud.one(f"{stack}-network-{n}") for n in ("public-default", "internet"))
    assert gateway.urn in route.dependencies
    for nat in cloud.of_type("aws:ec2/natGateway:NatGateway"):
        assert gateway.urn in nat.dependencies


@better("DF-03", "Ports 1021 to 1023 of Lustre", why="988 and 1018 to 1023, as FSx documents them")
def test_lustre_has_all_of_its_ports(network):
    rules = network("vpc-one-az").rules("lustre", "Ingress")
    assert {(r["fromPort"], r["toPort"]) for r in rules} == {(988, 988), (1018, 1023)}


@better(
    "DF-04",
    "A security group without rules for itself, and an export of another name than the import",
    why="rules for itself, and the same typed outputs of both networks",
)
def test_both_networks_serve_every_stack(network):
    for stack in NETWORKS:
        made = network(stack)
        for direction in ("Ingress", "Egress"):
            peers = [r.get("referencedSecurityGroupId") for r in made.rules("efa", direction)]
            assert f"{stack}-efa-group-id" in peers
        assert isinstance(made.cloud.exports["private_subnet_ids"], list)


@better(
    "DF-10",
    "p4d: the placement switch inverted, a path for an image, a required key, dead user data",
    why="all four put right; RAID 0 is an option that works",
)
def test_the_four_faults_of_the_p4d_template_are_gone(batch):
    made = batch("batch-p4d")
    assert "placementGroup" not in made.resources
    assert not [each for each in made.resources["ec2Configurations"] if "imageIdOverride" in each]
    assert "/aws/service" not in json.dumps(made.template)
    assert "keyName" not in made.template
    script = [line for line in made.user_data.splitlines() if "mdadm --create" in line]
    assert script
    assert not script[0].lstrip().startswith("#")


@better(
    "DF-11",
    "p5: a parameter of another name, a test on each node alone, a repository without use",
    why="one name for all reservations, one test over all nodes, a repository where it is wanted",
)
def test_the_three_faults_of_the_p5_template_are_gone(batch):
    made = batch("batch-p5")
    assert made.plan.compute_environments[0].capacity.reservation_id == "cr-0123456789abcdef0"
    assert "--hostfile" in made.container("nccl-tests")["command"][-1]
    assert made.cloud.of_type("aws:ecr/repository:Repository") == []


@better(
    "DF-12",
    "Metadata without a token, volumes in clear, images unscanned, BEST_FIT, `$Latest`",
    why="the other way round in every Batch stack, which the policy pack also asks for",
)
@pytest.mark.parametrize("stack", STACKS)
def test_nodes_images_and_updates_are_hardened(batch, stack):
    made = batch(stack)
    assert made.template["metadataOptions"]["httpTokens"] == "required"
    (volume,) = made.template["blockDeviceMappings"]
    assert volume["ebs"]["encrypted"] == "true"
    assert made.resources["allocationStrategy"] == "BEST_FIT_PROGRESSIVE"
    assert made.resources["launchTemplate"]["version"] != "$Latest"
    assert made.environment["updatePolicy"]
    for repository in made.cloud.of_type("aws:ecr/repository:Repository"):
        assert repository.inputs["imageScanningConfiguration"]["scanOnPush"]
