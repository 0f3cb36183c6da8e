"""EC2's description of launched instances, and the available counts of reservations."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest

from tests.support.sandbox_aws import (
    BLOCK,
    ENDING,
    NVIDIA_IMAGE,
    ODCR,
    PRIVATE_B,
    SCHEDULED,
    STANDARD_IMAGE,
    Account,
    p5_block,
    refused,
    target,
)
from trainyard.sandbox.aws.clock import CLOCK

PLAIN = {
    "MinCount": 1,
    "MaxCount": 1,
    "ImageId": STANDARD_IMAGE,
    "InstanceType": "c5.2xlarge",
    "SubnetId": PRIVATE_B,
}


@pytest.fixture
def p5(account: Account) -> dict:
    """A p5.48xlarge of the Capacity Block, launched from a template by Auto Scaling."""
    account.role("node")
    template_id = account.template(
        "p5",
        **p5_block(account.group()),
        IamInstanceProfile={"Name": "node"},
        KeyName="sandbox",
        UserData=base64.b64encode(b"a NodeConfig").decode(),
        MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        BlockDeviceMappings=[
            {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 500, "Encrypted": True}}
        ],
        TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "k", "Value": "v"}]}],
    )
    account.autoscaling_group("p5", template_id, DesiredCapacity=1)
    return account.instances()[0]


def test_an_instance_has_every_interface_of_its_template_with_type_and_card(p5: dict) -> None:
    slots = {
        (each["Attachment"]["NetworkCardIndex"], each["Attachment"]["DeviceIndex"]): each
        for each in p5["NetworkInterfaces"]
    }
    assert set(slots) == {(0, 0), (0, 1), *((card, 0) for card in range(1, 32))}
    kinds = [each["InterfaceType"] for each in p5["NetworkInterfaces"]]
    assert (kinds.count("interface"), kinds.count("efa-only")) == (1, 32)
    assert slots[0, 0]["PrivateIpAddress"] == p5["PrivateIpAddress"]
    assert all("PrivateIpAddress" not in each for slot, each in slots.items() if slot != (0, 0))


def test_an_instance_takes_everything_else_from_its_template_too(
    account: Account, p5: dict
) -> None:
    assert p5["CapacityReservationId"] == BLOCK
    assert p5["CapacityReservationSpecification"] == target(BLOCK)
    assert p5["InstanceLifecycle"] == "capacity-block"
    assert p5["IamInstanceProfile"]["Arn"].endswith(":instance-profile/node")
    assert p5["KeyName"] == "sandbox"
    assert p5["ImageId"] == NVIDIA_IMAGE
    assert p5["MetadataOptions"]["HttpTokens"] == "required"
    assert p5["Placement"]["AvailabilityZone"] == "us-west-2b"
    assert {"Key": "k", "Value": "v"} in p5["Tags"]
    answer = account.ec2.describe_instance_attribute(
        InstanceId=p5["InstanceId"], Attribute="userData"
    )
    assert base64.b64decode(answer["UserData"]["Value"]) == b"a NodeConfig"
    (volume,) = account.ec2.describe_volumes()["Volumes"]
    assert (volume["Size"], volume["Encrypted"]) == (500, True)


def test_the_private_dns_name_is_the_address_in_the_region(p5: dict) -> None:
    name = p5["PrivateIpAddress"].replace(".", "-")
    assert p5["PrivateDnsName"] == f"ip-{name}.us-west-2.compute.internal"


def test_a_terminated_instance_gives_back_what_it_took(account: Account, p5: dict) -> None:
    assert account.reservation(BLOCK)["AvailableInstanceCount"] == 1
    account.autoscaling.update_auto_scaling_group(AutoScalingGroupName="p5", DesiredCapacity=0)
    assert account.instances() == []
    assert account.reservation(BLOCK)["AvailableInstanceCount"] == 2
    interfaces = account.ec2.describe_network_interfaces()["NetworkInterfaces"]
    assert not [each for each in interfaces if "InstanceId" in each.get("Attachment", {})]
    assert account.ec2.describe_volumes()["Volumes"] == []


def test_a_placement_group_shows_in_the_placement(account: Account) -> None:
    group = account.ec2.create_placement_group(GroupName="mine", Strategy="cluster")
    account.ec2.run_instances(**PLAIN, Placement={"GroupName": "mine"})
    placement = account.instances()[0]["Placement"]
    assert placement["GroupName"] == "mine"
    assert placement["GroupId"] == group["PlacementGroup"]["GroupId"]


def test_a_launch_gets_as_many_instances_as_the_reservation_has(account: Account) -> None:
    reserved = {
        **PLAIN,
        "ImageId": NVIDIA_IMAGE,
        "InstanceType": "p5.48xlarge",
        "CapacityReservationSpecification": target(ODCR),
    }
    account.ec2.run_instances(**{**reserved, "MaxCount": 5})
    assert len(account.instances()) == 2
    assert account.reservation(ODCR)["AvailableInstanceCount"] == 0
    with refused("ReservationCapacityExceeded"):
        account.ec2.run_instances(**reserved)


def test_an_open_reservation_is_taken_by_whatever_fits(account: Account) -> None:
    # C13 and the preferences of C9
    made = account.ec2.create_capacity_reservation(
        InstanceType="c5.2xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-west-2b",
        InstanceCount=1,
    )["CapacityReservation"]
    reservation_id = made["CapacityReservationId"]
    account.ec2.run_instances(
        **PLAIN, CapacityReservationSpecification={"CapacityReservationPreference": "none"}
    )
    assert account.reservation(reservation_id)["AvailableInstanceCount"] == 1
    account.ec2.run_instances(**PLAIN)
    assert account.reservation(reservation_id)["AvailableInstanceCount"] == 0
    only = {"CapacityReservationPreference": "capacity-reservations-only"}
    with refused("ReservationCapacityExceeded"):
        account.ec2.run_instances(**PLAIN, CapacityReservationSpecification=only)
    account.ec2.run_instances(**PLAIN)
    assert len(account.instances()) == 3


@pytest.mark.parametrize(("only_reserved", "is_refused"), [(False, False), (True, True)])
def test_a_group_that_matches_nothing_runs_on_demand_unless_told_otherwise(
    account: Account, only_reserved: bool, is_refused: bool
) -> None:
    # C10
    groups = account.client("resource-groups")
    arn = groups.create_group(
        Name="pool",
        Configuration=[
            {"Type": "AWS::EC2::CapacityReservationPool"},
            {
                "Type": "AWS::ResourceGroups::Generic",
                "Parameters": [
                    {
                        "Name": "allowed-resource-types",
                        "Values": ["AWS::EC2::CapacityReservation"],
                    }
                ],
            },
        ],
    )["Group"]["GroupArn"]
    specification = {
        "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": arn},
        **(
            {"CapacityReservationPreference": "capacity-reservations-only"} if only_reserved else {}
        ),
    }
    p5 = {**PLAIN, "ImageId": NVIDIA_IMAGE, "InstanceType": "p5.48xlarge"}
    if is_refused:
        with refused("ReservationCapacityExceeded"):
            account.ec2.run_instances(**p5, CapacityReservationSpecification=specification)
    else:
        account.ec2.run_instances(**p5, CapacityReservationSpecification=specification)
        assert "CapacityReservationId" not in account.instances()[0]
    groups.group_resources(
        Group="pool", ResourceArns=[account.reservation(ODCR)["CapacityReservationArn"]]
    )
    account.ec2.run_instances(**p5, CapacityReservationSpecification=specification)
    assert account.reservation(ODCR)["AvailableInstanceCount"] == 1


def test_a_block_begins_and_ends_by_the_clock(account: Account) -> None:
    assert account.reservation(SCHEDULED)["State"] == "scheduled"
    assert account.reservation(SCHEDULED)["AvailableInstanceCount"] == 0
    CLOCK.advance(timedelta(days=3))
    assert account.reservation(SCHEDULED)["State"] == "active"
    assert account.reservation(SCHEDULED)["AvailableInstanceCount"] == 2
    CLOCK.advance(timedelta(days=7))
    assert account.reservation(SCHEDULED)["State"] == "expired"


def test_nothing_is_launched_into_the_last_half_hour_of_a_block(account: Account) -> None:
    # D9: EC2 begins to terminate the instances then
    request = {"MinCount": 1, "MaxCount": 1, **p5_block(account.group(), ENDING)}
    for interface in request["NetworkInterfaces"]:
        interface["SubnetId"] = PRIVATE_B
    account.ec2.run_instances(**request)
    CLOCK.advance(timedelta(minutes=10))
    with refused("ReservationCapacityExceeded"):
        account.ec2.run_instances(**request)
