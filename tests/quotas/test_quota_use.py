"""Use of quotas in the sandbox's account, without the stack's own resources."""

from __future__ import annotations

from tests.support.sandbox_aws import PRIVATE_B, VPC  # before boto3 makes a client

from trainyard.components.quotas.lookup import quota_readings  # isort: skip
from trainyard.components.quotas.lookup import use_of_others  # isort: skip
from trainyard.components.account.reader import read_side_by_side  # isort: skip
from trainyard.components.catalog.quotas import QUOTAS, REGION  # isort: skip


def test_every_quota_has_a_value_and_a_use(reader):
    found = read_side_by_side(quota_readings(reader, list(QUOTAS), "mine"))
    assert set(found["quota_values"]) == set(QUOTAS)
    assert set(found["quota_use"]) == set(QUOTAS)
    assert reader.not_read() == ()
    assert found["quota_values"]["eks-clusters"] == 50  # applied
    assert found["quota_values"]["vpcs"] == 5  # default


def test_what_the_stack_has_made_is_not_counted(account, reader):
    before = use_of_others(reader, "ec2:DescribeAddresses", "mine")["elastic-ips"][REGION]
    specification = {
        "ResourceType": "elastic-ip",
        "Tags": [{"Key": "trainyard:cluster", "Value": "mine"}],
    }
    account.ec2.allocate_address(Domain="vpc", TagSpecifications=[specification])
    mine = use_of_others(reader, "ec2:DescribeAddresses", "mine")["elastic-ips"][REGION]
    others = use_of_others(reader, "ec2:DescribeAddresses", "other")["elastic-ips"][REGION]
    assert (mine, others) == (before, before + 1)


def test_gateways_are_counted_by_the_name_and_the_id_of_their_zone(reader):
    found = use_of_others(reader, "ec2:DescribeNatGateways", "mine")["nat-gateways"]
    assert found["us-west-2b"] == 1
    assert sum(found.values()) == 2


def test_gateway_endpoints_are_counted_without_interface_endpoints(account, reader):
    call = "ec2:DescribeVpcEndpoints"
    before = use_of_others(reader, call, "mine")["gateway-endpoints"][REGION]
    for kind, service in (("Gateway", "s3"), ("Interface", "sts")):
        name = f"com.amazonaws.us-west-2.{service}"
        account.ec2.create_vpc_endpoint(VpcId=VPC, ServiceName=name, VpcEndpointType=kind)
    assert use_of_others(reader, call, "mine")["gateway-endpoints"][REGION] == before + 1


def test_what_another_account_shares_does_not_count(reader, monkeypatch):
    before = use_of_others(reader, "ec2:DescribeVpcs", "mine")["vpcs"][REGION]
    monkeypatch.setattr(reader, "account_id", lambda: "999988887777")
    assert before > 0
    assert use_of_others(reader, "ec2:DescribeVpcs", "mine")["vpcs"][REGION] == 0


def test_a_call_that_is_denied_counts_nothing_and_is_named(reader, monkeypatch):
    monkeypatch.setattr(reader, "ask", lambda call, *_, **__: reader.unreadable.append(call))
    assert use_of_others(reader, "ec2:DescribeVpcs", "mine") == {}
    assert reader.not_read() == ("ec2:DescribeVpcs",)


def test_open_zfs_file_systems_count_with_capacity_throughput_and_iops(account, reader):
    def use() -> list[float]:
        found = use_of_others(reader, "fsx:DescribeFileSystems", "mine")
        return [
            found[f"open-zfs-{each}"][REGION]
            for each in ("file-systems", "capacity", "throughput", "iops")
        ]

    before = use()
    account.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=1024,
        StorageType="SSD",
        SubnetIds=[PRIVATE_B],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 320},
    )
    assert [after - old for after, old in zip(use(), before, strict=True)] == [1, 1024, 320, 3072]
