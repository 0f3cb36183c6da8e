"""Launches that EC2 refuses, each with its error code; rows A and C of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.sandbox_aws import (
    AWS_ASSISTED,
    BLOCK,
    EXPIRED,
    NVIDIA_IMAGE,
    ODCR,
    ODCR_IN_GROUP,
    OTHER_TYPE,
    OTHER_ZONE,
    PRIVATE_B,
    PRIVATE_D,
    SCHEDULED,
    SMALL,
    STANDARD_IMAGE,
    TINY_B,
    Account,
    p5_block,
    p5_interfaces,
    refused,
    target,
    without,
)

Request = dict[str, Any]


@pytest.fixture
def block_launch(account: Account) -> Request:
    """A launch into the Capacity Block that EC2 accepts."""
    request = {"MinCount": 1, "MaxCount": 1, **p5_block(account.group())}
    for interface in request["NetworkInterfaces"]:
        interface["SubnetId"] = PRIVATE_B
    return request


def test_the_launch_that_every_refusal_starts_from_is_accepted(
    account: Account, block_launch: Request
) -> None:
    with refused("DryRunOperation"):
        account.ec2.run_instances(**block_launch, DryRun=True)
    assert account.instances() == []


def change_interface(index: int, **fields: Any) -> Callable[[Request], None]:
    return lambda request: request["NetworkInterfaces"][index].update(fields)


def set_fields(**fields: Any) -> Callable[[Request], None]:
    return lambda request: request.update(fields)


INTERFACES = [
    # A1
    ("InvalidParameterCombination", "not supported on c5.2xlarge",
     set_fields(InstanceType="c5.2xlarge", InstanceMarketOptions={},
                CapacityReservationSpecification={})),
    # A4: 33 EFA interfaces on a type with 32
    ("AttachmentLimitExceeded", "33", lambda request: request["NetworkInterfaces"].append(
        {"NetworkCardIndex": 31, "DeviceIndex": 1, "InterfaceType": "efa", "SubnetId": PRIVATE_B})),
    ("InvalidParameterValue", "from 0 to 31", change_interface(32, NetworkCardIndex=32)),
    # The field report of rules A12 and parity pain 2
    ("InvalidParameterValue", "from 0 to 1", change_interface(5, DeviceIndex=2)),
    # A14
    ("InvalidParameterValue", "unique device index", change_interface(3, NetworkCardIndex=1)),
    # A11
    ("InvalidParameterCombination", "cannot be of type efa-only",
     change_interface(0, InterfaceType="efa-only")),
    ("InvalidParameterCombination", "device at index 0",
     lambda request: request["NetworkInterfaces"].pop(0)),
    # A15
    ("InvalidParameterCombination", "takes no IP address",
     change_interface(1, AssociatePublicIpAddress=True)),
    ("InvalidParameterCombination", "takes no IP address",
     change_interface(1, PrivateIpAddress="10.0.144.77")),
    # A10
    ("InvalidParameterCombination", "multiple network interfaces",
     change_interface(0, AssociatePublicIpAddress=True)),
    # A16
    ("InvalidParameterCombination", "security groups", set_fields(SecurityGroupIds=["sg-1"])),
    ("InvalidParameterCombination", "subnet ID", set_fields(SubnetId=PRIVATE_B)),
    ("InvalidGroup.NotFound", "sg-0fffffffffffffff1",
     change_interface(0, Groups=["sg-0fffffffffffffff1"])),
]  # fmt: skip


@pytest.mark.parametrize(("code", "words", "change"), INTERFACES)
def test_interfaces_that_the_type_does_not_take_are_refused(
    account: Account,
    block_launch: Request,
    code: str,
    words: str,
    change: Callable[[Request], None],
) -> None:
    change(block_launch)
    with refused(code, words):
        account.ec2.run_instances(**block_launch)


def test_card_zero_of_p6_b300_takes_no_efa(account: Account) -> None:
    # A13
    interfaces = [{"DeviceIndex": 0, "InterfaceType": "efa", "SubnetId": PRIVATE_B}]
    with refused("InvalidParameterCombination", "Network card 0 of p6-b300.48xlarge"):
        account.ec2.run_instances(
            MinCount=1,
            MaxCount=1,
            ImageId=NVIDIA_IMAGE,
            InstanceType="p6-b300.48xlarge",
            NetworkInterfaces=interfaces,
        )


def of_reservation(reservation_id: str) -> Callable[[Request], None]:
    return set_fields(CapacityReservationSpecification=target(reservation_id))


def move_to_zone_d(request: Request) -> None:
    for interface in request["NetworkInterfaces"]:
        interface["SubnetId"] = PRIVATE_D


CAPACITY = [
    # D1, D2
    ("InvalidParameterCombination", "target is required",
     set_fields(CapacityReservationSpecification={})),
    ("InvalidParameterValue", "market type", set_fields(InstanceMarketOptions={})),
    # D6: an ODCR's id with the market type of a block
    ("InvalidParameterValue", "market type", of_reservation(ODCR)),
    ("InvalidCapacityReservationId.NotFound", "does not exist",
     of_reservation("cr-0fffffffffffffff1")),
    ("InvalidCapacityReservationId.Malformed", "Invalid", of_reservation("cr-of-mine")),
    # C11, D13
    ("InvalidCapacityReservationState", "scheduled", of_reservation(SCHEDULED)),
    ("InvalidCapacityReservationState", "expired", of_reservation(EXPIRED)),
    # C1, C2
    ("InvalidParameterValue", "p4d.24xlarge", of_reservation(OTHER_TYPE)),
    ("InvalidParameterValue", "us-west-2d", of_reservation(OTHER_ZONE)),
    ("InvalidParameterValue", "us-west-2b", move_to_zone_d),
    # C5, D12
    ("ReservationCapacityExceeded", "sufficient", lambda request: (
        of_reservation(SMALL)(request), request.update(MinCount=2, MaxCount=2))),
    # C8
    ("InvalidParameterCombination", "together", set_fields(CapacityReservationSpecification={
        "CapacityReservationPreference": "open", **target(BLOCK)})),
    # B7: a block cannot be used in a placement group
    ("InsufficientInstanceCapacity", "us-west-2b",
     set_fields(Placement={"GroupName": "p4de-reserved"})),
    # B3
    ("InvalidPlacementGroup.Unknown", "nowhere", set_fields(Placement={"GroupName": "nowhere"})),
]  # fmt: skip


@pytest.mark.parametrize(("code", "words", "change"), CAPACITY)
def test_capacity_that_does_not_fit_is_refused(
    account: Account,
    block_launch: Request,
    code: str,
    words: str,
    change: Callable[[Request], Any],
) -> None:
    change(block_launch)
    with refused(code, words):
        account.ec2.run_instances(**block_launch)


@pytest.mark.parametrize(
    ("reservation_id", "instance_type", "group", "is_refused"),
    [
        # B10, C9: capacity that AWS delivered is in AWS's group, and cannot be used in another
        (AWS_ASSISTED, "p5.48xlarge", "p4de-reserved", True),
        (AWS_ASSISTED, "p5.48xlarge", None, False),
        # B8: a reservation that the account created in a group is usable in that group, and without
        # one
        (ODCR_IN_GROUP, "p4de.24xlarge", "p4de-reserved", False),
        (ODCR_IN_GROUP, "p4de.24xlarge", None, False),
        (ODCR_IN_GROUP, "p4de.24xlarge", "mine", True),
        (ODCR, "p5.48xlarge", "mine", False),
    ],
)
def test_reserved_capacity_is_not_to_be_had_in_another_placement_group(
    account: Account,
    reservation_id: str,
    instance_type: str,
    group: str | None,
    is_refused: bool,
) -> None:
    account.ec2.create_placement_group(GroupName="mine", Strategy="cluster")
    request = {
        "MinCount": 1,
        "MaxCount": 1,
        "ImageId": NVIDIA_IMAGE,
        "InstanceType": instance_type,
        "SubnetId": PRIVATE_B,
        "CapacityReservationSpecification": target(reservation_id),
        **({"Placement": {"GroupName": group}} if group else {}),
    }
    if is_refused:
        with refused("InsufficientInstanceCapacity", instance_type):
            account.ec2.run_instances(**request)
    else:
        account.ec2.run_instances(**request)
        assert account.instances()[0]["CapacityReservationId"] == reservation_id


PLAIN = {
    "MinCount": 1,
    "MaxCount": 1,
    "ImageId": STANDARD_IMAGE,
    "InstanceType": "c5.2xlarge",
    "SubnetId": PRIVATE_B,
}

OTHERS = [
    ("InvalidParameterValue", "p5.47xlarge", {"InstanceType": "p5.47xlarge"}),
    ("InvalidAMIID.NotFound", "ami-0fffffffffffffff1", {"ImageId": "ami-0fffffffffffffff1"}),
    ("InvalidKeyPair.NotFound", "nobody", {"KeyName": "nobody"}),
    ("InvalidSubnetID.NotFound", "subnet-0fffffffffffffff1",
     {"SubnetId": "subnet-0fffffffffffffff1"}),
    ("InvalidParameterValue", "Invalid IAM Instance Profile name",
     {"IamInstanceProfile": {"Name": "nobody"}}),
    ("InvalidParameterValue", "Invalid IAM Instance Profile ARN",
     {"IamInstanceProfile": {"Arn": "arn:aws:iam::123456789012:instance-profile/nobody"}}),
    # E14: the message names the zones that qualify
    ("Unsupported", "us-west-2a, us-west-2b, us-west-2c",
     {"InstanceType": "p4de.24xlarge", "SubnetId": PRIVATE_D}),
    ("InsufficientFreeAddressesInSubnet", TINY_B,
     {"SubnetId": TINY_B, "MinCount": 12, "MaxCount": 12}),
    ("InvalidParameterValue", "market type",
     {"InstanceMarketOptions": {"MarketType": "capacity-block"}}),
    # B4
    ("InvalidParameterCombination", "cluster",
     {"InstanceType": "t3.micro", "Placement": {"GroupName": "p4de-reserved"}}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "words", "change"), OTHERS)
def test_what_does_not_exist_or_does_not_fit_is_refused(
    account: Account, code: str, words: str, change: Request
) -> None:
    with refused(code, words):
        account.ec2.run_instances(**{**PLAIN, **change})


def test_an_image_is_needed(account: Account) -> None:
    with refused("MissingParameter", "ImageId"):
        account.ec2.run_instances(**without(PLAIN, "ImageId"))


def test_a_security_group_of_another_vpc_is_refused(account: Account) -> None:
    other = account.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    with refused("InvalidParameter", "different networks"):
        account.ec2.run_instances(**PLAIN, SecurityGroupIds=[account.group("other", other)])


def test_a_dry_run_does_not_ask_for_capacity(account: Account, block_launch: Request) -> None:
    # A cluster whose nodes fill their reservation is still updated: the validators dry-run them.
    account.ec2.run_instances(**{**block_launch, "MinCount": 2, "MaxCount": 2})
    with refused("ReservationCapacityExceeded"):
        account.ec2.run_instances(**block_launch)
    with refused("DryRunOperation"):
        account.ec2.run_instances(**block_launch, DryRun=True)


def test_a_dry_run_accepts_only_a_block_to_come(account: Account, block_launch: Request) -> None:
    # ParallelCluster makes it for a cluster that is created before its block starts.
    of_reservation(SCHEDULED)(block_launch)
    with refused("DryRunOperation"):
        account.ec2.run_instances(**block_launch, DryRun=True)
    of_reservation(EXPIRED)(block_launch)
    with refused("InvalidCapacityReservationState"):
        account.ec2.run_instances(**block_launch, DryRun=True)


def test_the_addresses_of_the_efa_layout_do_not_fit_a_tiny_subnet(account: Account) -> None:
    # Pain 15: with the layout `efa` every interface needs an address, with `efa-only` one does.
    interfaces = p5_interfaces(account.group())
    for interface in interfaces:
        interface["SubnetId"] = TINY_B
    request = {
        "MinCount": 1,
        "MaxCount": 1,
        "ImageId": NVIDIA_IMAGE,
        "InstanceType": "p5.48xlarge",
        "NetworkInterfaces": interfaces,
    }
    with refused("DryRunOperation"):
        account.ec2.run_instances(**request, DryRun=True)
    for interface in interfaces[2:]:
        interface["InterfaceType"] = "efa"
    with refused("InsufficientFreeAddressesInSubnet"):
        account.ec2.run_instances(**request)
