"""The ports of Lustre, in and out of the file system's group (F7; pain 19)."""

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import LUSTRE_GROUP, LUSTRE_NETWORK, lustre, lustre_rule
from trainyard.policies.resources.types import (
    EKS_CLUSTER,
    LUSTRE_FILE_SYSTEM,
    SECURITY_GROUP,
    SECURITY_GROUP_RULE,
)
from trainyard.policies.rules.storage.lustre_ports_open import POLICY

VIOLATING = ((lustre(), LUSTRE_GROUP, lustre_rule("ingress", 988, 988)),)
CLEAN = ((lustre(), *LUSTRE_NETWORK),)


def older(direction, first, last, **changes):
    props = {
        "securityGroupId": UNKNOWN,
        "type": direction,
        "protocol": "tcp",
        "fromPort": first,
        "toPort": last,
        **changes,
    }
    depends = {"securityGroupId": ["lustre-servers"], "fromPort": ["lustre"]}
    return Declared(SECURITY_GROUP_RULE, f"older-{direction}-{first}", props, depends)


def inline(**rules):
    return Declared(SECURITY_GROUP, "lustre-servers", rules)


BOTH_PORTS = [
    {"protocol": "tcp", "fromPort": first, "toPort": last, "self": True}
    for first, last in ((988, 988), (1018, 1023))
]
ALL = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}]
INGRESS = (lustre_rule("ingress", 988, 988), lustre_rule("ingress", 1018, 1023))


@pytest.mark.parametrize(
    ("rules", "missing"),
    [
        pytest.param((), "ingress 988, ingress 1018-1023, egress 988, egress 1018-1023", id="none"),
        pytest.param(INGRESS, "egress 988, egress 1018-1023", id="one-way"),
        pytest.param(
            (*INGRESS, lustre_rule("egress", 988, 1022)), "egress 1018-1023", id="too-few"
        ),
        pytest.param(
            (*INGRESS, lustre_rule("egress", 0, 65535, "udp")), "egress 988", id="other-protocol"
        ),
    ],
)
def test_fails(rules, missing):
    (message,) = check(POLICY, lustre(), LUSTRE_GROUP, *rules).messages
    assert f"do not allow TCP {missing}" in message


@pytest.mark.parametrize(
    "program",
    [
        pytest.param((lustre(), *LUSTRE_NETWORK), id="ports"),
        pytest.param(
            (
                lustre(),
                LUSTRE_GROUP,
                lustre_rule("ingress", -1, -1, "-1"),
                lustre_rule("egress", -1, -1, "-1"),
            ),
            id="everything",
        ),
        pytest.param(
            (Declared(LUSTRE_FILE_SYSTEM, "fs", {"securityGroupIds": ["sg-elsewhere"]}),),
            id="made-elsewhere",
        ),
        pytest.param((lustre(), inline(ingress=BOTH_PORTS, egress=ALL)), id="inline-rules"),
        pytest.param(
            (
                lustre(),
                LUSTRE_GROUP,
                *(
                    older(direction, *ports)
                    for direction in ("ingress", "egress")
                    for ports in ((988, 988), (1018, 1023))
                ),
            ),
            id="older-rules",
        ),
        pytest.param(
            (
                lustre(),
                LUSTRE_GROUP,
                older("ingress", 0, 0, protocol="-1"),
                older("egress", UNKNOWN, 65535),
            ),
            id="ports-known-later",
        ),
    ],
)
def test_passes_or_says_nothing(program):
    assert check(POLICY, *program).messages == []


def test_no_groups_at_all_are_the_default_group_which_is_not_seen():
    system = Declared(LUSTRE_FILE_SYSTEM, "fs", {"storageCapacity": 1200})
    assert check(POLICY, system).messages == []


def test_rules_in_the_group_and_rules_of_the_older_kind_are_read_too():
    inbound = (lustre(), inline(ingress=BOTH_PORTS[:1], egress=ALL))
    (message,) = check(POLICY, *inbound).messages
    assert "do not allow TCP ingress 1018-1023, so mounts" in message
    one_way = (lustre(), LUSTRE_GROUP, *INGRESS, older("ingress", 0, 65535))
    (message,) = check(POLICY, *one_way).messages
    assert "do not allow TCP egress 988, egress 1018-1023, so mounts" in message


def test_a_further_group_from_elsewhere_decides_nothing():
    system = lustre()
    props = {**system.props, "securityGroupIds": ["sg-1", "sg-elsewhere"]}
    group = Declared(SECURITY_GROUP, "lustre-servers", {"id": "sg-1"})
    assert check(POLICY, Declared(system.type, "fs", props), group).messages == []


def test_a_group_that_was_made_elsewhere_may_pass_the_ports():
    """The cluster security group of EKS allows all of its members to reach one another."""
    system = lustre()
    depends = {"securityGroupIds": ["lustre-servers", "eks"]}
    shared = Declared(
        system.type, system.name, {**system.props, "securityGroupIds": [UNKNOWN] * 2}, depends
    )
    cluster = Declared(EKS_CLUSTER, "eks", {"id": "eks"})
    assert check(POLICY, shared, cluster, LUSTRE_GROUP).messages == []
