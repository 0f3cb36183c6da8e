"""Whose instances are in a capacity reservation.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html, filter
`capacity-reservation-id`, and API_Instance.html, `capacityReservationId`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainyard.components.account.lookup import AccountReader
from trainyard.components.tagging import CLUSTER_TAG, EKS_CLUSTER_TAG, PARALLELCLUSTER_TAG, tag_map

Holders = Mapping[str, tuple[str, ...]]
"""Ids of this account's instances in a reservation, by owner."""

OWNER_TAGS = (
    CLUSTER_TAG,
    EKS_CLUSTER_TAG,
    PARALLELCLUSTER_TAG,
    "aws:autoscaling:groupName",
    "Name",
)
"""Tags that identify the owner of an instance, most specific first."""


def holder_filters(reservation_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the filters of `DescribeInstances` for instances that occupy reservations."""
    return [
        {"Name": "capacity-reservation-id", "Values": [*reservation_ids]},
        {"Name": "instance-state-name", "Values": ["pending", "running", "stopping"]},
    ]


def holders_of(pages: Iterable[Mapping[str, Any]]) -> dict[str, Holders]:
    """Return the holders of each reservation, from the pages of `DescribeInstances`."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for page in pages:
        for instance in (one for made in page["Reservations"] for one in made["Instances"]):
            if "CapacityReservationId" in instance:
                held = found.setdefault(instance["CapacityReservationId"], {})
                owner = _owner(instance.get("Tags") or [])
                held[owner] = (*held.get(owner, ()), instance["InstanceId"])
    return dict(found)


def held_text(holders: Holders, *, used: int, ids: bool = True) -> str:
    """Return who holds the used instances of a reservation, in one phrase, with or without ids.

    Instances that this account does not have belong to accounts that share the reservation.
    """
    parts = [
        f"{len(each)} used by {owner}" + (f" ({', '.join(each)})" if ids else "")
        for owner, each in holders.items()
    ]
    others = used - sum(map(len, holders.values()))
    if others > 0:
        parts.append(f"{others} by instances in other accounts")
    return ", ".join(parts)


def look_up_holders(reader: AccountReader, reservation_ids: Sequence[str]) -> dict[str, Holders]:
    """Return the holders of each reservation; nothing if EC2 denies the request.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    if not reservation_ids:
        return {}
    pages = reader.pages(
        "ec2:DescribeInstances",
        reader.ec2.describe_instances,
        next_key="NextToken",
        Filters=holder_filters(reservation_ids),
    )
    answered = list(pages)
    return {name: {} for name in reservation_ids if answered} | holders_of(answered)


def _owner(tags: list[Mapping[str, str]]) -> str:
    values = tag_map(tags)
    return next((values[key] for key in OWNER_TAGS if values.get(key)), "instances without a name")
