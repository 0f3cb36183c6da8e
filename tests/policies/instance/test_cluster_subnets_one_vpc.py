"""One VPC for the subnets of a cluster, and DNS in it (E2)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import cluster, eks_template, role, subnet, vpc, workers
from trainyard.policies.resources.types import AUTO_SCALING_GROUP
from trainyard.policies.rules.instance.cluster_subnets_one_vpc import POLICY

SUBNETS = (subnet("one", "us-west-2a"), subnet("two", "us-west-2b"))
CLUSTER = cluster(["one", "two"])
NODES = (eks_template(), role("node-role"), workers(subnetIds=["one-id"]))

WEB_SERVERS = Declared(
    AUTO_SCALING_GROUP, "web", {"vpcZoneIdentifiers": ["one-id", "two-id"], "maxSize": 2}
)

FAULTS = {
    "host-names-left-out": (
        (Declared("aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "10.0.0.0/16"}), *SUBNETS, CLUSTER),
        "no DNS hostnames",
    ),
    "host-names-off": ((vpc(enableDnsHostnames=False), *SUBNETS, CLUSTER), "no DNS hostnames"),
    "support-off": ((vpc(enableDnsSupport=False), *SUBNETS, CLUSTER), "no DNS support"),
    "nodes-only": ((vpc(enableDnsHostnames=False), *SUBNETS, *NODES), "nodes of workers"),
    "two-vpcs": (
        (vpc(), vpc("other"), SUBNETS[0], subnet("two", "us-west-2b", "other"), CLUSTER),
        "its subnets belong to 2 VPCs",
    ),
}
VIOLATING = tuple(program for program, _ in FAULTS.values())
RIGHT = {
    "names": (vpc(), *SUBNETS, CLUSTER),
    "support-said": (vpc(enableDnsSupport=True), *SUBNETS, CLUSTER),
    "vpc-without-nodes": (vpc(enableDnsHostnames=False),),
    "no-kubernetes": (vpc(enableDnsHostnames=False), *SUBNETS, WEB_SERVERS),
    "elsewhere": (cluster(["three", "four"]),),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize(("program", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_host_names_that_are_not_known_yet_are_no_fault():
    network = vpc(enableDnsHostnames=UNKNOWN)
    known_later = Declared(network.type, "vpc", network.props, {"enableDnsHostnames": ["one"]})
    assert check(POLICY, known_later, *SUBNETS, CLUSTER).messages == []


def test_a_subnet_whose_vpc_is_one_of_two_is_no_fault_of_either():
    """A program may select a network whose id is unknown before its creation."""
    one = subnet("one", "us-west-2a")
    chosen = Declared(
        one.type, one.name, {**one.props, "vpcId": UNKNOWN}, {"vpcId": ["vpc", "other"]}
    )
    found = check(POLICY, vpc(), vpc("other"), chosen, subnet("two", "us-west-2b"), CLUSTER)
    assert found.messages == []
