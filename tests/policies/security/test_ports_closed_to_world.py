"""SSH and Lustre from everywhere, and what generic rules flag wrongly (H1, H2)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK
from tests.support.policy_programs_eks import workers
from trainyard.policies.resources.types import (
    DEFAULT_SECURITY_GROUP,
    SECURITY_GROUP,
    SECURITY_GROUP_INGRESS_RULE,
    SECURITY_GROUP_RULE,
)
from trainyard.policies.rules.security.ports_closed_to_world import POLICY

WORLD, WORLD_6 = "0.0.0.0/0", "::/0"


def newer(first, last, protocol="tcp", **other):
    ports = {} if protocol == "-1" else {"fromPort": first, "toPort": last}
    other = other or {"cidrIpv4": WORLD}
    props = {"securityGroupId": "sg-1", "ipProtocol": protocol, **ports, **other}
    return Declared(SECURITY_GROUP_INGRESS_RULE, "rule", props)


def older(first, last, protocol="tcp", direction="ingress", **other):
    other = other or {"cidrBlocks": [WORLD]}
    props = {"securityGroupId": "sg-1", "type": direction, "protocol": protocol, **other}
    return Declared(SECURITY_GROUP_RULE, "rule", {**props, "fromPort": first, "toPort": last})


def inline(first, last, protocol="tcp", type_=SECURITY_GROUP, **other):
    rule = {"protocol": protocol, "fromPort": first, "toPort": last}
    return Declared(type_, "group", {"ingress": [{**rule, **(other or {"cidrBlocks": [WORLD]})}]})


def managed(**remote_access):
    made = workers(remoteAccess=remote_access)
    kept = {key: value for key, value in made.props.items() if key != "launchTemplate"}
    return Declared(made.type, made.name, kept, {"nodeRoleArn": ["node-role"]})


FAULTS = {
    "ssh": (newer(22, 22), "opens SSH (22) to 0.0.0.0/0"),
    "ssh-over-ipv6": (newer(22, 22, cidrIpv6=WORLD_6), "opens SSH (22) to ::/0"),
    "ssh-in-a-range": (newer(20, 25), "SSH (22)"),
    "lustre": (newer(988, 988), "Lustre (988)"),
    "lustre-servers": (newer(1018, 1023), "Lustre (1018-1023)"),
    "every-port": (newer(0, 65535), "SSH (22), Lustre (988), Lustre (1018-1023)"),
    "every-protocol": (newer(0, 0, "-1"), "SSH (22), Lustre (988)"),
    "older": (older(22, 22), "SSH (22)"),
    "older-over-ipv6": (older(22, 22, ipv6CidrBlocks=[WORLD_6]), "to ::/0"),
    "older-every-protocol": (older(0, 0, "all"), "SSH (22), Lustre (988)"),
    "inline": (inline(22, 22), "SSH (22)"),
    "inline-every-protocol": (inline(0, 0, "-1"), "SSH (22), Lustre (988)"),
    "default-group": (inline(22, 22, type_=DEFAULT_SECURITY_GROUP), "SSH (22)"),
    "eks-remote-access": (managed(ec2SshKey="key"), "EKS opens port 22"),
}
VIOLATING = tuple((declared,) for declared, _ in FAULTS.values())
RIGHT = {
    "ssh-from-the-office": newer(22, 22, cidrIpv4="192.0.2.0/24"),
    "web": newer(443, 443),
    "udp": newer(22, 22, "udp"),
    "ping": newer(-1, -1, "icmp"),
    "out": older(0, 0, "-1", direction="egress"),
    "from-a-group": inline(22, 22, securityGroups=["sg-2"]),
    "from-itself": inline(0, 0, "-1", self=True),
    "remote-access-from-a-group": managed(ec2SshKey="key", sourceSecurityGroupIds=["sg-2"]),
}
CLEAN = (*((declared,) for declared in RIGHT.values()), EFA_NETWORK)


@pytest.mark.parametrize(("declared", "fault"), FAULTS.values(), ids=FAULTS)
def test_fails(declared, fault):
    (message,) = check(POLICY, declared).messages
    assert fault in message


@pytest.mark.parametrize("declared", RIGHT.values(), ids=RIGHT)
def test_passes(declared):
    found = check(POLICY, declared)
    assert (found.messages, found.undecided) == ([], [])


def test_the_rules_that_efa_needs_pass():
    """All protocols within the group, and all outbound traffic (H1, H2)."""
    assert check(POLICY, *EFA_NETWORK).messages == []


def test_ports_that_are_not_known_yet_are_said():
    found = check(POLICY, newer(UNKNOWN, 22))
    assert found.messages == []
    assert "rule.fromPort" in found.undecided[0]
