"""The default security group of the VPC, which containers of multi-node jobs share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.batch.test_account import fitting, p4d, problems
from tests.support.sandbox_aws import VPC, default_account
from trainyard.components.account.reader import AccountReader, read_side_by_side
from trainyard.components.batch.account import BatchAccount, look_up_default_group
from trainyard.components.config.batch import BatchStackConfig
from trainyard.components.config.load import load_stack_config
from trainyard.components.network.facts import DefaultGroupFacts, IngressFacts
from trainyard.components.network.lookup import ingress_of

GROUP, OTHER = "sg-0default", "sg-0other"
MULTI = "architecture__job_definitions__nccl-multi__nodes"


def rule(peer=None, *, cidr=None, protocol="-1", ports=(-1, -1)):
    return IngressFacts(
        protocol=protocol, first_port=ports[0], last_port=ports[1], cidr=cidr, peer_group_id=peer
    )


OF_AWS = DefaultGroupFacts(
    group_id=GROUP, lets_in=(rule(GROUP),), lets_out=(rule(cidr="0.0.0.0/0"),)
)


def refused(group, raw=None):
    """Return the problem of the VPC, or None."""
    return problems(raw or p4d(), fitting(default_group=group)).get("network.vpc_id")


@pytest.mark.parametrize(
    "group",
    [
        OF_AWS,
        replace(OF_AWS, lets_out=(rule(GROUP),)),
        replace(OF_AWS, lets_in=(rule(GROUP, protocol="tcp", ports=(0, 65535)),)),
        replace(OF_AWS, lets_in=(rule(cidr="10.0.0.0/16"),)),
        None,
    ],
    ids=["as-aws-makes-it", "out-to-members", "tcp-alone", "by-network", "unreadable"],
)
def test_a_group_whose_members_reach_each_other_is_accepted(group):
    """G3: Batch gives the containers this group if the template lists the interfaces."""
    assert refused(group) is None


@pytest.mark.parametrize(
    ("group", "closed"),
    [
        (replace(OF_AWS, lets_in=()), ["ingress"]),
        (replace(OF_AWS, lets_out=()), ["egress"]),
        (DefaultGroupFacts(group_id=GROUP, lets_in=(), lets_out=()), ["ingress", "egress"]),
        (replace(OF_AWS, lets_in=(rule(OTHER),)), ["ingress"]),
        (replace(OF_AWS, lets_in=(rule(GROUP, protocol="tcp", ports=(22, 22)),)), ["ingress"]),
        (replace(OF_AWS, lets_in=(rule(cidr="192.168.0.0/16"),)), ["ingress"]),
    ],
    ids=["nothing-in", "nothing-out", "emptied", "another-group", "one-port", "another-network"],
)
def test_a_group_whose_members_are_kept_apart_is_refused_with_the_rules_to_add(group, closed):
    found = refused(group)
    assert found is not None
    assert "nccl-multi" in found.problem
    for way in ("ingress", "egress"):
        command = f"aws ec2 authorize-security-group-{way} --group-id {GROUP}"
        assert (command in found.remedy) == (way in closed)


def test_jobs_on_one_node_meet_nobody():
    assert refused(replace(OF_AWS, lets_in=()), p4d(**{MULTI: 1})) is None


def test_without_efa_the_containers_have_the_groups_of_the_environment():
    own = "architecture__compute_environments__p4d__efa_enabled"
    assert refused(replace(OF_AWS, lets_in=()), p4d(**{own: False})) is None


@pytest.fixture(scope="module")
def reader() -> Iterator[AccountReader]:
    with default_account():
        yield AccountReader(region="us-west-2")


def test_the_group_of_the_vpc_is_looked_up_as_aws_makes_it(reader):
    found = look_up_default_group(reader, VPC)
    assert found is not None
    (inwards,), (outwards,) = found.lets_in, found.lets_out
    assert (inwards.protocol, inwards.peer_group_id) == ("-1", found.group_id)
    assert (outwards.protocol, outwards.cidr) == ("-1", "0.0.0.0/0")


def test_a_rule_for_ipv6_alone_lets_nobody_through(reader):
    vpc = reader.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    found = look_up_default_group(reader, vpc)
    assert found is not None
    everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    everywhere_v6 = [{"IpProtocol": "-1", "Ipv6Ranges": [{"CidrIpv6": "::/0"}]}]
    reader.ec2.revoke_security_group_egress(GroupId=found.group_id, IpPermissions=everywhere)
    reader.ec2.authorize_security_group_egress(GroupId=found.group_id, IpPermissions=everywhere_v6)
    closed = look_up_default_group(reader, vpc)
    assert closed is not None
    assert closed.lets_out == ()


def test_a_file_system_is_not_reached_by_a_rule_for_ipv6_alone(reader):
    vpc = reader.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    made = reader.ec2.create_security_group(GroupName="lustre", Description="x", VpcId=vpc)
    ports = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988}
    everywhere_v6 = [{**ports, "Ipv6Ranges": [{"CidrIpv6": "::/0"}]}]
    own = [{**ports, "IpRanges": [{"CidrIp": "10.9.0.0/16"}]}]
    for permissions in (everywhere_v6, own):
        reader.ec2.authorize_security_group_ingress(
            GroupId=made["GroupId"], IpPermissions=permissions
        )
    (found,) = ingress_of(reader, frozenset({made["GroupId"]}))
    assert found.cidr == "10.9.0.0/16"


@pytest.mark.parametrize(("nodes", "wanted"), [(2, True), (1, False)])
def test_it_is_looked_up_where_jobs_have_several_nodes(reader, nodes, wanted):
    config = load_stack_config(p4d(**{MULTI: nodes}), stack_file="Pulumi.batch-p4d.yaml")
    assert isinstance(config, BatchStackConfig)
    found = read_side_by_side(BatchAccount().readings(reader, config))
    assert (found.get("default_group") is not None) == wanted
