"""A reservation as EC2 describes it, and an account that has only this one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.validate import ParamValidator

ACCOUNT = "123456789012"
RESERVATION = "cr-00d00000000000001"
_SHAPE = botocore.session.get_session().get_service_model("ec2").shape_for("CapacityReservation")


def described(**changes: Any) -> dict[str, Any]:
    """Return one of `CapacityReservations`, which has the shape of EC2's model.

    Raises:
        AssertionError: a change does not have it.
    """
    answer: dict[str, Any] = {
        "CapacityReservationId": RESERVATION,
        "CapacityReservationArn": "arn",
        "OwnerId": ACCOUNT,
        "InstanceType": "p5.48xlarge",
        "InstancePlatform": "Linux/UNIX",
        "AvailabilityZone": "us-west-2b",
        "AvailabilityZoneId": "usw2-az2",
        "TotalInstanceCount": 4,
        "AvailableInstanceCount": 1,
        "State": "active",
        "StartDate": datetime(2026, 11, 20, tzinfo=UTC),
        "ReservationType": "default",
    } | changes
    report = ParamValidator().validate(answer, _SHAPE)
    assert not report.has_errors(), report.generate_report()
    return answer


class Reader:
    """An account with one reservation, in which instances of `prod-a` run."""

    region = "us-west-2"
    ec2 = type("Ec2", (), {"describe_capacity_reservations": None, "describe_instances": None})

    def __init__(self, answer: dict[str, Any], instances: tuple[str, ...] = ("i-1", "i-2")) -> None:
        instance = {
            "CapacityReservationId": answer["CapacityReservationId"],
            "Tags": [{"Key": "trainyard:cluster", "Value": "prod-a"}],
        }
        held = [{**instance, "InstanceId": each} for each in instances]
        self._pages = {
            "ec2:DescribeCapacityReservations": [{"CapacityReservations": [answer]}],
            "ec2:DescribeInstances": [{"Reservations": [{"Instances": held}]}],
        }

    def pages(self, call: str, *_: Any, **__: Any) -> list[Any]:
        return self._pages[call]

    def account_id(self) -> str:
        return ACCOUNT
