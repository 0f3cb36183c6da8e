"""Whether an On-Demand Capacity Reservation can be requested, by a dry run.

A dry run of EC2 checks the permissions of the caller. It reserves nothing, and it does not tell
whether EC2 has the instances or whether the quota is sufficient: that is known when the reservation
is created.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
"""

from __future__ import annotations

from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.components.account.call_failures import explained, says_nothing_of_the_request
from trainyard.components.account.error_codes import NOT_ALLOWED
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.capacity.plan import LINUX
from trainyard.components.preflight.launch_rows import WOULD_HAVE_SUCCEEDED

CREATE_RESERVATION = "ec2:CreateCapacityReservation"


@dataclass(frozen=True, slots=True, kw_only=True)
class OdcrOffer:
    """The answer of EC2 for one zone."""

    zone: str
    zone_id: str
    code: str
    """Error code of EC2; a dry run always ends with one."""
    message: str

    @property
    def text(self) -> str:
        """The answer as text."""
        if self.code == WOULD_HAVE_SUCCEEDED:
            return "can be requested; only the request tells whether EC2 has the instances"
        if self.code in NOT_ALLOWED:
            return f"AWS denies {CREATE_RESERVATION}"
        return f"{self.code}: {self.message}"


def odcr_offers(reader: AccountReader, instance_type: str, nodes: int) -> list[OdcrOffer]:
    """Return the answers for the zones of the region that offer the type, by zone.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    offered = reader.offered_zone_ids(instance_type)
    zones = sorted((z for z in reader.zones() if z.zone_id in offered), key=lambda z: z.name)
    answers = [(zone, _dry_run(reader, instance_type, nodes, zone.name)) for zone in zones]
    return [
        OdcrOffer(zone=zone.name, zone_id=zone.zone_id, code=code, message=message)
        for zone, (code, message) in answers
    ]


def _dry_run(reader: AccountReader, instance_type: str, nodes: int, zone: str) -> tuple[str, str]:
    try:
        reader.ec2.create_capacity_reservation(
            DryRun=True,
            InstanceType=instance_type,
            InstancePlatform=LINUX,
            AvailabilityZone=zone,
            InstanceCount=nodes,
        )
    except ClientError as error:
        if says_nothing_of_the_request(error):
            raise AccountUnreachableError(explained(CREATE_RESERVATION, error)) from error
        said = error.response.get("Error", {})
        return said.get("Code", ""), said.get("Message", "")
    except BotoCoreError as error:
        raise AccountUnreachableError(explained(CREATE_RESERVATION, error)) from error
    raise AssertionError("a dry run ends with an error")
