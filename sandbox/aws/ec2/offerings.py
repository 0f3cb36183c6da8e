"""Capacity Block offerings from DescribeCapacityBlockOfferings, which can be purchased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.state import state_of


@dataclass(frozen=True, kw_only=True)
class Offering:
    """An offering; its price is always zero."""

    offering_id: str
    instance_type: str
    availability_zone: str
    instance_count: int
    starts_at: datetime
    duration_hours: int

    @property
    def ends_at(self) -> datetime:
        """When the block ends."""
        return self.starts_at + timedelta(hours=self.duration_hours)

    def described(self) -> dict[str, Any]:
        """Return it as DescribeCapacityBlockOfferings gives it."""
        return {
            "CapacityBlockOfferingId": self.offering_id,
            "InstanceType": self.instance_type,
            "AvailabilityZone": self.availability_zone,
            "InstanceCount": self.instance_count,
            "StartDate": self.starts_at,
            "EndDate": self.ends_at,
            "CapacityBlockDurationHours": self.duration_hours,
            "UpfrontFee": "0.00",
            "CurrencyCode": "USD",
            "Tenancy": "default",
        }


class Offerings(dict[str, Offering]):
    """Offerings by id."""


def offerings_of(ec2_backend: Any) -> Offerings:
    """Return the offerings of an EC2 backend."""
    return state_of(ec2_backend, Offerings)
