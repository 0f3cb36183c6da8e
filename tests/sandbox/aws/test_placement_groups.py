"""Placement groups and the reservations that are created in them."""

from __future__ import annotations

from tests.support.sandbox_aws import AWS_ASSISTED, ODCR_IN_GROUP, Account, refused


def names(account: Account) -> list[str]:
    groups = account.ec2.describe_placement_groups()["PlacementGroups"]
    return sorted(group["GroupName"] for group in groups)


def test_a_placement_group_comes_and_goes(account: Account) -> None:
    made = account.ec2.create_placement_group(
        GroupName="mine",
        Strategy="cluster",
        TagSpecifications=[
            {"ResourceType": "placement-group", "Tags": [{"Key": "k", "Value": "v"}]}
        ],
    )["PlacementGroup"]
    assert made["GroupArn"] == "arn:aws:ec2:us-west-2:123456789012:placement-group/mine"
    assert made["State"] == "available"
    assert names(account) == ["apart", "mine", "p4de-reserved"]
    filters = [{"Name": "tag:k", "Values": ["v"]}]
    found = account.ec2.describe_placement_groups(Filters=filters)["PlacementGroups"]
    assert [group["GroupId"] for group in found] == [made["GroupId"]]
    account.ec2.create_tags(Resources=[made["GroupId"]], Tags=[{"Key": "k", "Value": "w"}])
    assert account.ec2.describe_placement_groups(Filters=filters)["PlacementGroups"] == []
    account.ec2.delete_placement_group(GroupName="mine")
    assert names(account) == ["apart", "p4de-reserved"]


def test_a_group_that_is_not_there_or_there_already_is_an_error(account: Account) -> None:
    with refused("InvalidPlacementGroup.Unknown", "'nowhere'"):
        account.ec2.describe_placement_groups(GroupNames=["nowhere"])
    with refused("InvalidPlacementGroup.Unknown"):
        account.ec2.delete_placement_group(GroupName="nowhere")
    with refused("InvalidPlacementGroup.Duplicate"):
        account.ec2.create_placement_group(GroupName="p4de-reserved", Strategy="cluster")


def test_a_group_with_an_active_reservation_stays(account: Account) -> None:
    # B13
    with refused("InvalidPlacementGroup.InUse"):
        account.ec2.delete_placement_group(GroupName="p4de-reserved")
    account.ec2.cancel_capacity_reservation(CapacityReservationId=ODCR_IN_GROUP)
    account.ec2.delete_placement_group(GroupName="p4de-reserved")


def test_a_reservation_of_another_account_can_be_seen_but_not_changed(account: Account) -> None:
    seen = account.reservation(AWS_ASSISTED)
    assert seen["OwnerId"] == "999988887777"
    assert ":999988887777:placement-group/" in seen["PlacementGroupArn"]
    with refused("UnauthorizedOperation"):
        account.ec2.cancel_capacity_reservation(CapacityReservationId=AWS_ASSISTED)


def test_reservations_are_found_by_filters(account: Account) -> None:
    found = account.ec2.describe_capacity_reservations(
        Filters=[
            {"Name": "instance-type", "Values": ["p4de.*"]},
            {"Name": "state", "Values": ["active"]},
            {"Name": "placement-group-arn", "Values": ["*/p4de-reserved"]},
        ]
    )["CapacityReservations"]
    assert [each["CapacityReservationId"] for each in found] == [ODCR_IN_GROUP]
    with refused("InvalidParameterValue", "'colour'"):
        account.ec2.describe_capacity_reservations(Filters=[{"Name": "colour", "Values": ["red"]}])


def test_offerings_name_zones_as_this_account_does(account: Account) -> None:
    offerings = account.ec2.describe_instance_type_offerings(
        LocationType="availability-zone",
        Filters=[{"Name": "instance-type", "Values": ["trn1.32xlarge"]}],
    )["InstanceTypeOfferings"]
    zones = account.ec2.describe_availability_zones()["AvailabilityZones"]
    ids = {zone["ZoneName"]: zone["ZoneId"] for zone in zones}
    assert {ids[each["Location"]] for each in offerings} == {"usw2-az1", "usw2-az4"}
