"""Lookup of the reservations of the account in EC2, for packs that enable it.

The lookup makes two read-only calls: `ec2:DescribeCapacityReservations`, and
`sts:GetCallerIdentity`, which needs no permission. EC2 does not show who created a reservation
without a placement group, so the lookup leaves it out and the strictest reading applies. A
reservation in a placement group of another account counts as AWS-assisted, whoever owns it: other
accounts cannot launch into that group by its name. Stack files read `provenance: auto` in the same
way (`components/capacity/reservations.py`).

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html, fields
    `PlacementGroupArn`, `ReservationType`
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard.policies.resources.reservations import ASSISTED, CAPACITY_BLOCKS, OWN

LOOKUP = "lookup"
LOOKUP_SCHEMA: Mapping[str, Any] = {
    "type": "boolean",
    "description": (
        "Ask EC2 for the reservations that the other keys do not name (read-only; off by default)."
    ),
}

OF_ANOTHER_ACCOUNT = (
    "accessKey",
    "assumeRoles",
    "assumeRoleWithWebIdentity",
    "endpoints",
    "profile",
    "sharedConfigFiles",
    "sharedCredentialsFiles",
)
"""Settings of a provider with which it reaches another account than the environment does.

https://www.pulumi.com/registry/packages/aws/api-docs/provider/
"""

Client = Callable[[str, str | None], Any]
"""Returns a client for a service and a region; None means the region of the environment."""

_NO_BOTO3 = (
    "reservations were not looked up: boto3 is not installed; install it in the environment of "
    "the pack, or declare the reservations in the configuration"
)


class LookupFailedError(Exception):
    """The lookup failed; the message has the cause and the fix."""


@dataclass(slots=True)
class Found:
    """The reservations of one region."""

    own: dict[str, str] = field(default_factory=dict)
    assisted: list[str] = field(default_factory=list)
    capacity_blocks: list[str] = field(default_factory=list)


def boto3_client(service: str, region: str | None) -> Any:
    """Return a client with the credentials of the environment.

    Raises:
        LookupFailedError: boto3 is not installed.
    """
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise LookupFailedError(_NO_BOTO3) from error
    # A preview waits for the answer, so the client does not retry for minutes.
    patience = Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 2})
    return boto3.client(service, region_name=region, config=patience)


class ReservationLookup:
    """Looks up each region once, and records failures."""

    def __init__(self, client: Client = boto3_client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._found: dict[str | None, Found] = {}
        self._failures: dict[str, None] = {}

    @property
    def failures(self) -> Collection[str]:
        """One message for each cause of a failed lookup."""
        return tuple(self._failures)

    def leave_out(self, setting: str) -> None:
        """Record that a provider is left out, because a setting of it names another account.

        Args:
            setting: Name of the setting, such as `assumeRoles`.
        """
        self._failures[
            f"reservations were not looked up: the AWS provider has the setting {setting}, and the "
            "lookup uses the credentials of the environment; declare the reservations in the "
            "configuration and set lookup to false"
        ] = None

    def completed(
        self, config: Mapping[str, Any], regions: Collection[str | None]
    ) -> Mapping[str, Any]:
        """Return the declared reservations and those of the account; declared ones win."""
        found = [self._of_region(region) for region in regions]
        own = dict(config.get(OWN) or {})
        assisted = list(config.get(ASSISTED) or ())
        declared = {*own, *assisted}
        for each in found:
            own = {**{k: v for k, v in each.own.items() if k not in declared}, **own}
            assisted += [id_ for id_ in each.assisted if id_ not in declared]
        blocks = [
            *(config.get(CAPACITY_BLOCKS) or ()),
            *(b for f in found for b in f.capacity_blocks),
        ]
        return {OWN: own, ASSISTED: assisted, CAPACITY_BLOCKS: list(dict.fromkeys(blocks))}

    def _of_region(self, region: str | None) -> Found:
        with self._lock:
            if region not in self._found:
                self._found[region] = self._looked_up(region)
            return self._found[region]

    def _looked_up(self, region: str | None) -> Found:
        try:
            account = self._client("sts", region).get_caller_identity()["Account"]
            return _sorted_out(_reservations(self._client("ec2", region)), account)
        except LookupFailedError as error:
            self._failures[str(error)] = None
        except Exception as error:
            where = f" of {region}" if region else ""
            self._failures[
                f"reservations{where} were not looked up: {error}; allow "
                "ec2:DescribeCapacityReservations, or declare the reservations in the "
                "configuration and set lookup to false"
            ] = None
        return Found()


def _reservations(ec2: Any) -> Iterator[Mapping[str, Any]]:
    for page in ec2.get_paginator("describe_capacity_reservations").paginate():
        yield from page["CapacityReservations"]


def _sorted_out(reservations: Iterator[Mapping[str, Any]], account: str) -> Found:
    found = Found()
    for each in reservations:
        id_, group_arn = each["CapacityReservationId"], each.get("PlacementGroupArn")
        if each.get("ReservationType") == "capacity-block":
            found.capacity_blocks.append(id_)
        elif group_arn and group_arn.split(":")[4] == account:
            found.own[id_] = group_arn.rpartition("/")[2]
        elif group_arn:
            found.assisted.append(id_)
    return found
