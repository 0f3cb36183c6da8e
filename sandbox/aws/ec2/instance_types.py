"""Instance type data, from the DescribeInstanceTypes responses in moto."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.errors import refuse


def type_information(ec2_backend: Any, instance_type: str) -> Mapping[str, Any]:
    """Return the DescribeInstanceTypes response of one type.

    Raises:
        EC2ClientError: The type does not exist, or is not offered in this region.
    """
    offered = INSTANCE_TYPE_OFFERINGS["region"].get(ec2_backend.region_name, [])
    if instance_type not in INSTANCE_TYPES or not any(
        each["InstanceType"] == instance_type for each in offered
    ):
        refuse("InvalidParameterValue", f"Invalid value '{instance_type}' for InstanceType.")
    return INSTANCE_TYPES[instance_type]


def offered_zones(ec2_backend: Any, instance_type: str) -> list[str]:
    """Return the names of the zones that offer the type, sorted.

    The offerings are joined on the zone id, because moto recorded them in an account whose zone
    names are mapped differently from those in its zone list.
    """
    offerings = INSTANCE_TYPE_OFFERINGS["availability-zone-id"].get(ec2_backend.region_name, [])
    ids = {each["Location"] for each in offerings if each["InstanceType"] == instance_type}
    zones = ec2_backend.zones[ec2_backend.region_name]
    return sorted(zone.name for zone in zones if zone.zone_id in ids)


_SERIALIZED: dict[str, Any] = {}
"""Answers of `_Once`, by what was asked."""


class _Once(ActionResult):
    """An answer that is the same each time, and that is serialized once.

    ParallelCluster asks for all offerings in each validation of an instance type; to serialize them
    takes 50 ms.
    """

    def __init__(self, result: object, asked: str) -> None:
        super().__init__(result)
        self._asked = asked

    def execute_result(self, context: Any) -> Any:
        """Return status, headers and body."""
        if self._asked not in _SERIALIZED:
            _SERIALIZED[self._asked] = super().execute_result(context)
        status, headers, body = _SERIALIZED[self._asked]
        return status, dict(headers), body  # the caller adds headers


class OfferingCalls(EC2Response):
    """DescribeInstanceTypeOfferings; mixed into the EC2 response class."""

    def describe_instance_type_offerings(self) -> ActionResult:
        """DescribeInstanceTypeOfferings, with the zone names of this account."""
        location_type = self.params.get("LocationType") or "region"
        filters = self._filters_from_querystring()
        asked = json.dumps([self.region, location_type, filters], sort_keys=True)
        return _Once(self._offerings(location_type, filters).result, asked)

    def _offerings(self, location_type: str, filters: Mapping[str, Any]) -> ActionResult:
        if location_type != "availability-zone":
            return super().describe_instance_type_offerings()
        zones = {zone.zone_id: zone.name for zone in self.ec2_backend.zones[self.region]}
        offerings = [
            {**each, "Location": zones[each["Location"]], "LocationType": location_type}
            for each in INSTANCE_TYPE_OFFERINGS["availability-zone-id"].get(self.region, [])
            if each["Location"] in zones
        ]
        return ActionResult(
            {
                "InstanceTypeOfferings": [
                    each
                    for each in offerings
                    if self.ec2_backend.matches_filters(each, filters, location_type)
                ]
            }
        )
