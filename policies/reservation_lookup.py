"""Reservations of the account as EC2 describes them, for packs that are allowed to ask.

Two calls that read: `ec2:DescribeCapacityReservations`, and `sts:GetCallerIdentity`, which needs
no permission. What EC2 does not show is left out, so that the strictest reading stays: a
reservation without a placement group of its own does not say whether AWS made it. One in a group
of another account counts as made by AWS, whoever owns the reservation: nobody else can launch into
that group by its name. The stack files read `provenance: auto` alike
(`components/account/provenance.py`).

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

from policies.account_facts import ASSISTED, CAPACITY_BLOCKS, OWN

Client = Callable[[str, str | None], Any]
"""Takes the name of a service and a region, None for that of the environment; gives a client."""

_NO_BOTO3 = (
    "reservations were not looked up: boto3 is missing beside the pack; install it there, or "
    "declare the reservations in the configuration"
)


class LookupFailedError(Exception):
    """The account was not asked; the text says why and what to do."""


@dataclass(slots=True)
class Found:
    """What EC2 tells of the reservations of one region."""

    own: dict[str, str] = field(default_factory=dict)
    assisted: list[str] = field(default_factory=list)
    capacity_blocks: list[str] = field(default_factory=list)


def boto3_client(service: str, region: str | None) -> Any:
    """Return a client of the environment's credentials.

    Raises:
        LookupFailedError: there is no boto3.
    """
    try:
        import boto3
        from botocore.config import Config
    except ImportError as error:
        raise LookupFailedError(_NO_BOTO3) from error
    # A preview waits for this: better a fact less than a minute of retries.
    patience = Config(connect_timeout=3, read_timeout=10, retries={"total_max_attempts": 2})
    return boto3.client(service, region_name=region, config=patience)


class ReservationLookup:
    """Asks each region once, and remembers what could not be asked."""

    def __init__(self, client: Client = boto3_client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._found: dict[str | None, Found] = {}
        self._failures: dict[str, None] = {}

    @property
    def failures(self) -> Collection[str]:
        """Why regions could not be asked, one message a cause."""
        return tuple(self._failures)

    def completed(
        self, config: Mapping[str, Any], regions: Collection[str | None]
    ) -> Mapping[str, Any]:
        """Return the facts of a rule's configuration and those of the account.

        What is declared goes before what EC2 says.
        """
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
                self._found[region] = self._asked(region)
            return self._found[region]

    def _asked(self, region: str | None) -> Found:
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
