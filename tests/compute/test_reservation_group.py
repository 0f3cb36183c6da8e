"""The reservation group that a stack creates."""

import pulumi
import pytest

from trainyard.components.compute.reservations import ReservationGroup, ReservationGroupArgs

OWN = "cr-00d00000000000001"
SHARED = "arn:aws:ec2:us-west-2:999988887777:capacity-reservation/cr-0a550000000000001"


@pytest.fixture
def made(deploy):
    arns = []

    def program():
        args = ReservationGroupArgs(
            members=(OWN, SHARED), region="us-west-2", tags={"team": "vision"}
        )
        arn = ReservationGroup("dev-reserved", args).arn
        arn.apply(arns.append)
        pulumi.CustomResource("aws:ec2/launchTemplate:LaunchTemplate", "user", {"arn": arn})

    cloud = deploy(program)
    return cloud, arns


def test_the_group_is_a_pool_that_launches_can_target(made):
    """PR-05."""
    group = made[0].one("dev-reserved-group").inputs
    assert group["configurations"] == [
        {"type": "AWS::EC2::CapacityReservationPool"},
        {
            "type": "AWS::ResourceGroups::Generic",
            "parameters": [
                {
                    "name": "allowed-resource-types",
                    "values": ["AWS::EC2::CapacityReservation"],
                }
            ],
        },
    ]
    assert group["tags"] == {"Name": "dev-reserved", "team": "vision"}


def test_its_name_does_not_begin_with_a_word_that_aws_keeps(made):
    assert made[0].one("dev-reserved-group").inputs["name"] == "reservations-dev-reserved"


def test_a_reservation_of_this_account_is_added_by_the_arn_that_follows_from_its_id(made):
    """PR-06."""
    member = made[0].one(f"dev-reserved-{OWN}").inputs
    assert member["resourceArn"] == (
        f"arn:aws:ec2:us-west-2:123456789012:capacity-reservation/{OWN}"
    )
    assert member["groupArn"].endswith(":group/reservations-dev-reserved")


def test_the_arn_of_a_reservation_is_of_the_partition_of_the_region(deploy):
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html."""
    args = ReservationGroupArgs(members=(OWN,), region="us-gov-west-1", tags={})
    member = deploy(lambda: ReservationGroup("dev-reserved", args)).one(f"dev-reserved-{OWN}")
    assert member.inputs["resourceArn"] == (
        f"arn:aws-us-gov:ec2:us-gov-west-1:123456789012:capacity-reservation/{OWN}"
    )


def test_a_reservation_of_another_account_is_added_by_its_own_arn(made):
    """PR-08."""
    assert made[0].one("dev-reserved-cr-0a550000000000001").inputs["resourceArn"] == SHARED


def test_the_arn_of_the_group_comes_when_its_members_are_in(made):
    cloud, arns = made
    assert arns == [cloud.one(f"dev-reserved-{OWN}").inputs["groupArn"]]
    members = {cloud.one(f"dev-reserved-{each}").urn for each in (OWN, SHARED.rpartition("/")[2])}
    assert members <= {*cloud.one("user").dependencies}
    assert cloud.one("dev-reserved-group").parent in cloud.closed


def test_members_wait_for_the_shares_that_they_come_with(deploy):
    """PR-08: a reservation of another account is not visible before its share is accepted."""

    def program():
        share = pulumi.CustomResource(
            "aws:ram/resourceShareAccepter:ResourceShareAccepter", "share", {}
        )
        args = ReservationGroupArgs(members=(SHARED,), region="us-west-2", tags={}, after=[share])
        ReservationGroup("dev-reserved", args)

    cloud = deploy(program)
    assert cloud.one("share").urn in cloud.one("dev-reserved-cr-0a550000000000001").dependencies
