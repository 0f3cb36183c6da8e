"""The account of the fixture."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import yaml

from tests.support.sandbox_aws import (
    AWS_ASSISTED,
    BLOCK,
    ENDING,
    EXPIRED,
    NVIDIA_IMAGE,
    ODCR,
    ODCR_IN_GROUP,
    SCHEDULED,
    VPC,
    Account,
)
from tests.support.stacks import STACKS
from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS
from trainyard.sandbox.account.fixture import fixture, moment
from trainyard.stack_files.completion import sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file


def subnets(account: Account) -> dict[str, dict]:
    filters = [{"Name": "vpc-id", "Values": [VPC]}]
    found = account.ec2.describe_subnets(Filters=filters)["Subnets"]
    return {subnet["SubnetId"]: subnet for subnet in found}


def test_the_subnets_are_where_their_ids_say(account: Account) -> None:
    found = subnets(account)
    for letter in "abcd":
        for digit, public in ((1, True), (2, False)):
            subnet = found[f"subnet-0{letter}{'0' * 14}{digit}"]
            assert subnet["AvailabilityZone"] == f"us-west-2{letter}"
            assert subnet["MapPublicIpOnLaunch"] is public
    assert found["subnet-0b000000000000282"]["AvailableIpAddressCount"] == 11
    zones = account.ec2.describe_availability_zones()["AvailabilityZones"]
    assert {zone["ZoneName"]: zone["ZoneId"] for zone in zones}["us-west-2b"] == "usw2-az1"


def test_public_subnets_lead_to_the_internet_and_private_ones_to_the_nat_gateway(
    account: Account,
) -> None:
    # PR-41
    for table in account.ec2.describe_route_tables(
        Filters=[{"Name": "association.subnet-id", "Values": list(subnets(account))}]
    )["RouteTables"]:
        (default,) = [
            each for each in table["Routes"] if each["DestinationCidrBlock"] == "0.0.0.0/0"
        ]
        for association in table["Associations"]:
            public = association["SubnetId"].endswith("1")
            assert ("GatewayId" in default) is public
            assert ("NatGatewayId" in default) is not public


@pytest.mark.parametrize(
    ("reservation_id", "expected"),
    [
        (BLOCK, {"ReservationType": "capacity-block", "State": "active", "TotalInstanceCount": 2,
                 "AvailabilityZone": "us-west-2b", "InstanceType": "p5.48xlarge"}),
        (SCHEDULED, {"State": "scheduled", "AvailableInstanceCount": 0}),
        (ENDING, {"State": "active", "EndDateType": "limited"}),
        (EXPIRED, {"State": "expired", "AvailableInstanceCount": 0}),
        (ODCR, {"ReservationType": "default", "State": "active", "EndDateType": "unlimited"}),
        (ODCR_IN_GROUP, {"OwnerId": "123456789012", "PlacementGroupArn":
                         "arn:aws:ec2:us-west-2:123456789012:placement-group/p4de-reserved"}),
        (AWS_ASSISTED, {"OwnerId": "999988887777"}),
    ],
)  # fmt: skip
def test_the_reservations_are_what_the_fixture_says(
    account: Account, reservation_id: str, expected: dict
) -> None:
    reservation = account.reservation(reservation_id)
    assert {key: reservation[key] for key in expected} == expected


def test_the_ending_block_ends_in_less_than_forty_minutes(account: Account) -> None:
    left = account.reservation(ENDING)["EndDate"] - datetime.now(UTC)
    assert timedelta(minutes=30) < left < timedelta(minutes=40)


@pytest.mark.parametrize("variant", ["standard", "nvidia", "neuron"])
def test_the_parameters_of_every_pinned_image_lead_to_an_image(
    account: Account, variant: str
) -> None:
    ssm = account.client("ssm")
    for version in EKS_VERSIONS.values():
        name = version.ami_ssm_parameter(variant, "x86_64")
        image_id = ssm.get_parameter(Name=name)["Parameter"]["Value"]
        (image,) = account.ec2.describe_images(ImageIds=[image_id])["Images"]
        assert variant in image["Name"]
        assert image["Architecture"] == "x86_64"
        assert image["OwnerId"] == "602401143452"


def test_ids_of_images_are_fixed(account: Account) -> None:
    images = f"/aws/service/eks/optimized-ami/{DEFAULT_KUBERNETES_VERSION}/amazon-linux-2023"
    path = f"{images}/x86_64/nvidia/recommended"
    answer = account.client("ssm").get_parameter(Name=f"{path}/image_id")
    assert answer["Parameter"]["Value"] == NVIDIA_IMAGE


def test_managed_policies_can_be_attached(account: Account) -> None:
    account.role("node")
    arn = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    account.iam.attach_role_policy(RoleName="node", PolicyArn=arn)
    attached = account.iam.list_attached_role_policies(RoleName="node")["AttachedPolicies"]
    assert [each["PolicyArn"] for each in attached] == [arn]


def test_a_reset_brings_the_same_account_again(account: Account) -> None:
    account.role("node")
    account.group()
    before = account.ec2.describe_vpcs()["Vpcs"]
    account.server.reset()
    assert account.ec2.describe_vpcs()["Vpcs"] == before
    assert account.iam.list_roles()["Roles"] == []


def test_the_completion_of_every_stack_names_objects_of_the_account(account: Account) -> None:
    known = set(subnets(account))
    for stack in STACKS:
        values = sandbox_completion(find_stack_file(stack))
        network = values.get("network")  # none if the stack creates its own
        if network is not None:
            assert network["vpc_id"] == VPC
            assert set(network["private_subnet_ids"]) <= known
            assert set(network["public_subnet_ids"]) <= known
        for reservation in values.get("reservations", {}).values():
            account.reservation(reservation["reservation_id"])


def test_times_are_relative_to_the_start() -> None:
    start = datetime(2026, 1, 31, tzinfo=UTC)
    assert moment("+1d", start) == datetime(2026, 2, 1, tzinfo=UTC)
    assert moment("-30m", start) == datetime(2026, 1, 30, 23, 30, tzinfo=UTC)
    with pytest.raises(ValueError, match="'tomorrow' is not a time"):
        moment("tomorrow", start)


def test_the_fixture_is_plain_yaml_with_each_id_once() -> None:
    ids: list[str] = []

    def collect(node: object) -> None:
        if isinstance(node, dict):
            ids.extend([node["id"]] if "id" in node else [])
            for value in node.values():
                collect(value)
        elif isinstance(node, list):
            for value in node:
                collect(value)

    collect(yaml.safe_load(yaml.safe_dump(fixture())))
    assert len(ids) == len(set(ids)) > 20
