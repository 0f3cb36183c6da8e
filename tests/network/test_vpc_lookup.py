"""The layout of a VPC, read from an account."""

from __future__ import annotations

import json
from dataclasses import replace

from moto.ec2.models import ec2_backends
from pydantic import TypeAdapter

from tests.support.sandbox_aws import ACCOUNT, VPC, Account
from tests.support.vpcs import CIDR, SECONDARY, make_vpc
from trainyard.components.account.reader import AccountReader
from trainyard.components.config.network import NewVpc
from trainyard.components.network.adopted_vpc_check import differences
from trainyard.components.network.lookup import UNKNOWN_MODE, look_up_layout


def test_a_vpc_is_read_with_everything_that_a_stack_can_adopt(
    account: Account, reader: AccountReader
) -> None:
    made = make_vpc(account.ec2)
    network = TypeAdapter(NewVpc).validate_json(json.dumps(made.network))
    found = look_up_layout(reader, made.vpc_id)
    assert found is not None
    assert (found.cidr, [*found.secondary]) == (CIDR, [SECONDARY])
    assert (found.dns_support, found.dns_hostnames) == (True, True)
    assert [each.service for each in found.endpoints.values()] == ["s3"]
    assert list(differences(network, found, own="ml")) == []
    moved = replace(found, cidr="10.41.0.0/16")
    assert [each.allowed for each in differences(network, moved, own="ml")] == ["10.41.0.0/16"]


def test_deleted_nat_gateways_are_not_in_a_vpc(account: Account, reader: AccountReader) -> None:
    made = make_vpc(account.ec2)
    nat = made.network["adopt"]["zones"]["us-west-2a"]["nat_gateway_id"]
    before = look_up_layout(reader, made.vpc_id)
    account.ec2.delete_nat_gateway(NatGatewayId=nat)
    after = look_up_layout(reader, made.vpc_id)
    assert before is not None
    assert after is not None
    assert ([*before.nat_gateways], [*after.nat_gateways]) == ([nat], [])


def test_a_vpc_that_does_not_exist_is_none(reader: AccountReader) -> None:
    assert look_up_layout(reader, "vpc-00000000000000000") is None


def test_a_subnet_without_a_table_of_its_own_uses_the_main_one(
    account: Account, reader: AccountReader
) -> None:
    vpc = account.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    made = account.ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    found = look_up_layout(reader, vpc)
    assert found is not None
    assert found.subnets[made].table_id == ""
    assert [each.default_route for each in found.tables.values()] == [""]


def test_the_nat_gateway_of_the_account_is_one_that_a_stack_can_adopt(
    account: Account, reader: AccountReader
) -> None:
    """EC2 answers the mode of every gateway, and the provider reads nothing of one without it."""
    found = look_up_layout(reader, VPC)
    assert found is not None
    assert [each.kind for each in found.nat_gateways.values()] == ["public zonal"]
    (identity,) = found.nat_gateways
    del ec2_backends[ACCOUNT][reader.region].nat_gateways[identity].availability_mode
    silent = look_up_layout(reader, VPC)
    assert silent is not None
    assert [each.kind for each in silent.nat_gateways.values()] == [f"public {UNKNOWN_MODE}"]
