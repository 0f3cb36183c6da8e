"""The reservation that a stack creates for its nodes."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.support.pools import CREATION
from trainyard.components.compute.reservations import CapacityReservation, CapacityReservationArgs


@pytest.fixture
def made(deploy):
    def run(region="us-west-2", platform="Linux/UNIX", **changes):
        args = CapacityReservationArgs(
            plan=replace(CREATION, **changes),
            entry="training",
            instance_type="p4de.24xlarge",
            platform=platform,
            region=region,
            tags={"team": "vision", "trainyard:cluster": "dev"},
        )
        return deploy(lambda: CapacityReservation("dev-training", args)).one(
            "dev-training-reservation"
        )

    return run


def test_only_launches_that_target_it_use_it(made):
    assert made().inputs == {
        "instanceType": "p4de.24xlarge",
        "instancePlatform": "Linux/UNIX",
        "availabilityZone": "us-west-2b",
        "instanceCount": 4,
        "instanceMatchCriteria": "targeted",
        "tenancy": "default",
        "endDateType": "unlimited",
        "tags": {
            "Name": "dev-training",
            "team": "vision",
            "trainyard:cluster": "dev",
            "trainyard:reservation": "training",
        },
    }


def test_an_end_is_sent_in_utc(made):
    inputs = made(ends_at=datetime(2026, 12, 24, 11, 30, tzinfo=UTC)).inputs
    assert (inputs["endDateType"], inputs["endDate"]) == ("limited", "2026-12-24T11:30:00Z")


def test_another_placement_group_is_planned_as_another_reservation(made):
    """`ModifyCapacityReservation` has no placement group.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyCapacityReservation.html
    """
    assert made(placement_group="near").replaced_on_changes == ("placementGroupArn",)


def test_it_is_created_in_a_placement_group_of_the_partition(made):
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html."""
    inputs = made("us-gov-west-1", "Red Hat Enterprise Linux", placement_group="near").inputs
    assert inputs["instancePlatform"] == "Red Hat Enterprise Linux"
    assert inputs["placementGroupArn"] == (
        "arn:aws-us-gov:ec2:us-gov-west-1:123456789012:placement-group/near"
    )


def test_it_is_created_in_the_placement_group_of_the_account(made):
    assert made(placement_group="near").inputs["placementGroupArn"] == (
        "arn:aws:ec2:us-west-2:123456789012:placement-group/near"
    )


@pytest.mark.parametrize("kept", [True, False])
def test_deletion_protection_protects_and_retains_it(made, kept):
    reservation = made(deletion_protection=kept)
    assert (reservation.protect, reservation.retain_on_delete) == (kept, kept)
