"""Every EFA interface has a group that references itself in both directions (A5)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_GROUP,
    EFA_NETWORK,
    INTERNET_RULE,
    interface,
    self_rule,
    template,
)
from tests.support.policy_programs_eks import own_interface
from trainyard.policies.resources.types import EKS_CLUSTER, SECURITY_GROUP, SECURITY_GROUP_RULE
from trainyard.policies.rules.efa.efa_security_group_self_reference import POLICY

VIOLATING = ((template(), EFA_GROUP, self_rule("ingress"), INTERNET_RULE),)
CLEAN = ((template(), *EFA_NETWORK),)

SELF = {"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}
EVERYWHERE = {"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}


def older_rule(type_, **props):
    return Declared(
        SECURITY_GROUP_RULE,
        f"old-{type_}",
        {"type": type_, "protocol": "-1", "securityGroupId": UNKNOWN, **props},
        {"securityGroupId": ["efa"], "sourceSecurityGroupId": ["efa"]},
    )


def group(**props):
    return Declared(SECURITY_GROUP, "efa", props)


@pytest.mark.parametrize(
    ("network", "fault"),
    [
        pytest.param(
            [EFA_GROUP, self_rule("ingress"), INTERNET_RULE],
            "add an egress rule to efa",
            id="egress-to-the-world-does-not-count",
        ),
        pytest.param([EFA_GROUP, self_rule("egress")], "add an ingress rule to efa", id="ingress"),
        pytest.param([EFA_GROUP], "add an ingress and an egress rule to efa", id="no-rules"),
        pytest.param(
            [EFA_GROUP, self_rule("ingress"), self_rule("egress", ipProtocol="tcp")],
            "add an egress rule",
            id="tcp-is-not-all-protocols",
        ),
        pytest.param(
            [group(ingress=[SELF], egress=[EVERYWHERE])], "add an egress rule", id="inline"
        ),
        pytest.param(
            [EFA_GROUP, older_rule("ingress", self=True)], "add an egress rule", id="older-rules"
        ),
    ],
)
def test_fails(network, fault):
    (message,) = check(POLICY, template(), *network).messages
    assert message.startswith("p5-template: network interface 1 (card 0, device 1) is an EFA")
    assert fault in message
    assert message.endswith("with all protocols (-1) and efa itself as the other side")


def test_fails_for_a_rule_between_two_groups():
    other = Declared(SECURITY_GROUP, "other")
    between = Declared(
        self_rule("egress").type,
        "between",
        self_rule("egress").props,
        {"securityGroupId": ["efa"], "referencedSecurityGroupId": ["other"]},
    )
    found = check(POLICY, template(), EFA_GROUP, other, self_rule("ingress"), between)
    assert "add an egress rule to efa" in found.messages[0]


def test_fails_for_an_interface_without_a_group():
    bare = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "efa"}
    (message,) = check(POLICY, template(networkInterfaces=[bare]), *EFA_NETWORK).messages
    assert "names no security group" in message


@pytest.mark.parametrize(
    "network",
    [
        pytest.param(EFA_NETWORK, id="rules-of-their-own"),
        pytest.param([group(ingress=[SELF], egress=[SELF, EVERYWHERE])], id="inline"),
        pytest.param(
            [EFA_GROUP, older_rule("ingress", self=True), older_rule("egress", self=True)],
            id="older-rules",
        ),
        pytest.param(
            [
                EFA_GROUP,
                older_rule("ingress", protocol="all", sourceSecurityGroupId=UNKNOWN),
                older_rule("egress", sourceSecurityGroupId=UNKNOWN),
            ],
            id="older-rules-by-id",
        ),
        pytest.param([group(ingress=[SELF]), self_rule("egress")], id="mixed"),
        pytest.param([], id="made-elsewhere"),
    ],
)
def test_passes(network):
    found = check(POLICY, template(), *network)
    assert (found.messages, found.undecided) == ([], [])


def known(with_egress, *others):
    """Return the program once ids are known, as `up` sees it, without dependencies."""
    ids = {"securityGroupId": "sg-efa", "referencedSecurityGroupId": "sg-efa"}
    directions = ["ingress", "egress"] if with_egress else ["ingress"]
    nodes = [interface(0, 0, "efa", securityGroups=[*others, "sg-efa"])]
    return [
        Declared(template().type, "p5-template", {"networkInterfaces": nodes}),
        group(id="sg-efa"),
        *(Declared(self_rule(d).type, d, {**self_rule(d).props, **ids}) for d in directions),
    ]


def test_groups_are_found_by_id_once_ids_are_known():
    assert check(POLICY, *known(with_egress=True)).messages == []
    assert "add an egress rule to efa" in check(POLICY, *known(with_egress=False)).messages[0]


def test_one_of_several_groups_with_both_rules_is_enough():
    """EC2 asks for "a security group" of which an EFA is a member, and others may open ports.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
    """
    ssh = Declared(SECURITY_GROUP, "ssh", {"id": "sg-ssh"})
    assert check(POLICY, *known(True, "sg-ssh"), ssh).messages == []
    (message,) = check(POLICY, *known(False, "sg-ssh"), ssh).messages
    assert "add an egress rule to efa" in message


def test_a_group_that_was_made_elsewhere_may_have_the_rules():
    """The cluster security group of EKS has these rules, and is used next to other groups."""
    assert check(POLICY, *known(False, "sg-cluster")).messages == []
    cluster = Declared(EKS_CLUSTER, "eks", {"id": "eks"})
    interfaces = [interface(0, 0, "efa", securityGroups=[UNKNOWN, UNKNOWN])]
    both = {"networkInterfaces": ["eks", "efa"]}
    nodes = Declared(template().type, "nodes", {"networkInterfaces": interfaces}, both)
    assert check(POLICY, nodes, cluster, EFA_GROUP).messages == []


def test_a_template_without_efa_is_left_alone():
    program = template(networkInterfaces=[{"deviceIndex": 0, "interfaceType": "interface"}])
    assert check(POLICY, program, EFA_GROUP).messages == []


def test_one_unknown_does_not_hide_the_faults_of_other_templates():
    depends = {"networkInterfaces": ["efa"]}
    unknown = Declared(template().type, "later", {"networkInterfaces": UNKNOWN}, depends)
    found = check(POLICY, unknown, template(), EFA_GROUP)
    assert len(found.messages) == 1
    assert "later.networkInterfaces" in found.undecided[0]


def test_unknown_groups_are_those_that_the_property_depends_on():
    interfaces = [interface(0, 0, "efa", securityGroups=UNKNOWN)]
    program = template(networkInterfaces=interfaces)
    assert len(check(POLICY, program, EFA_GROUP).messages) == 1
    assert check(POLICY, program, *EFA_NETWORK).messages == []


def test_inline_rules_that_aws_reports_later_are_no_rules_of_the_program():
    """In a preview, an official provider leaves them unknown if the program sets none."""
    reported = group(ingress=UNKNOWN, egress=UNKNOWN)
    assert len(check(POLICY, template(), reported).messages) == 1


def test_inline_rules_that_the_program_computes_are_said_and_not_judged():
    computed = Declared(SECURITY_GROUP, "efa", {"ingress": UNKNOWN}, {"ingress": ["p5-template"]})
    found = check(POLICY, template(), computed, self_rule("egress"))
    assert found.messages == []
    assert "efa.ingress" in found.undecided[0]


def test_an_interface_of_its_own_is_judged_as_one_of_a_template():
    fabric = own_interface("fabric", "efa-only")
    (message,) = check(POLICY, fabric, EFA_GROUP, self_rule("ingress")).messages
    assert message.startswith("fabric: it is an EFA, and none of its security groups")
    assert check(POLICY, fabric, *EFA_NETWORK).messages == []
    assert check(POLICY, own_interface("plain", None), EFA_GROUP).messages == []
    bare = own_interface("fabric", securityGroups=[])
    assert "names no security group" in check(POLICY, bare, *EFA_NETWORK).messages[0]
