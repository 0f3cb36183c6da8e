"""Security groups and subnets of one VPC (E10)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs_eks import role, subnet, vpc, workers
from trainyard.policies.resources.types import LAUNCH_TEMPLATE, SECURITY_GROUP
from trainyard.policies.rules.instance.launch_template_one_vpc import POLICY

NETWORK = (vpc(), subnet("one", "us-west-2a"), vpc("other"), role("node-role"))


def security_group(network):
    props = {"id": "nodes-id", "vpcId": UNKNOWN}
    return Declared(SECURITY_GROUP, "nodes", props, {"vpcId": [network]})


def template(**groups):
    props = {"metadataOptions": {"httpTokens": "required"}, **groups}
    return Declared(LAUNCH_TEMPLATE, "workers-template", props, {key: ["nodes"] for key in groups})


GROUP = workers(subnetIds=["one-id"])
AT_THE_TOP = template(vpcSecurityGroupIds=["nodes-id"])
AT_AN_INTERFACE = template(networkInterfaces=[{"deviceIndex": 0, "securityGroups": ["nodes-id"]}])

VIOLATING = tuple(
    (*NETWORK, security_group("other"), made, GROUP) for made in (AT_THE_TOP, AT_AN_INTERFACE)
)
RIGHT = {
    "one-vpc": (*NETWORK, security_group("vpc"), AT_THE_TOP, GROUP),
    "subnets-elsewhere": (*NETWORK, security_group("other"), AT_THE_TOP, workers()),
    "groups-elsewhere": (*NETWORK, template(vpcSecurityGroupIds=["sg-elsewhere"]), GROUP),
}
CLEAN = tuple(RIGHT.values())


@pytest.mark.parametrize("program", VIOLATING, ids=["top", "interface"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert message.startswith("workers-template: its security group nodes belongs to another VPC")


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    assert check(POLICY, *program).messages == []


def test_a_subnet_that_is_new_is_found_by_what_went_into_the_group():
    new = Declared(
        GROUP.type,
        GROUP.name,
        {**GROUP.props, "subnetIds": [UNKNOWN]},
        {**GROUP.depends, "subnetIds": ["one"]},
    )
    assert check(POLICY, *NETWORK, security_group("other"), AT_THE_TOP, new).messages
