"""Security groups next to listed network interfaces (A16)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, node_group, template
from tests.support.policy_programs_eks import (
    environment,
    instance,
    on_demand,
    plain,
)
from trainyard.policies.rules.efa.interface_security_groups import POLICY

VIOLATING = (
    (template(vpcSecurityGroupIds=["sg-0123456789abcdef0"]), *EFA_NETWORK),
    (on_demand(), environment(securityGroupIds=["sg-0123456789abcdef0"]), *EFA_NETWORK),
)
CLEAN = (
    (template(), node_group(), *EFA_NETWORK),
    (plain(vpcSecurityGroupIds=["sg-0123456789abcdef0"]),),
    (on_demand(), environment(), *EFA_NETWORK),
)


@pytest.mark.parametrize(
    ("groups", "key"),
    [
        ({"vpcSecurityGroupIds": ["sg-1"]}, "vpc_security_group_ids"),
        ({"vpcSecurityGroupIds": [UNKNOWN]}, "vpc_security_group_ids"),
        ({"securityGroupNames": ["default"]}, "security_group_names"),
    ],
    ids=["ids", "made-here", "names"],
)
def test_fails_for_a_template_with_both(groups, key):
    (message,) = check(POLICY, template(**groups)).messages
    assert message.startswith("p5-template: it lists network interfaces")
    assert f"remove {key}" in message


def test_fails_for_one_interface_that_is_no_efa():
    interfaces = [{"deviceIndex": 0, "associatePublicIpAddress": "true"}]
    made = on_demand(networkInterfaces=interfaces, vpcSecurityGroupIds=["sg-1"])
    assert check(POLICY, made).messages


def test_fails_for_a_compute_environment_beside_its_template():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message.startswith("batch-p5: its launch template p5-template lists network interfaces")
    assert "compute_resources.security_group_ids" in message


def from_template(**changes):
    made = instance(launchTemplate={"id": UNKNOWN}, vpcSecurityGroupIds=[UNKNOWN], **changes)
    depends = {"launchTemplate": ["p5-template"], "vpcSecurityGroupIds": ["efa"]}
    return Declared(made.type, made.name, made.props, depends)


def test_fails_for_an_instance_beside_its_template():
    found = check(POLICY, template(), from_template(), *EFA_NETWORK)
    assert found.messages[0].startswith("node: its launch template p5-template")


def test_groups_that_aws_reports_of_a_running_instance_were_not_given():
    made = from_template()
    running = Declared(made.type, made.name, made.props, {"launchTemplate": ["p5-template"]})
    assert check(POLICY, template(), running, *EFA_NETWORK).messages == []


@pytest.mark.parametrize("program", CLEAN)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_unknown_interfaces_are_said():
    made = template(networkInterfaces=UNKNOWN, vpcSecurityGroupIds=["sg-1"])
    found = check(POLICY, made, *EFA_NETWORK)
    assert found.messages == []
    assert "p5-template.networkInterfaces" in found.undecided[0]
