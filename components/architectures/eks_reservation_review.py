"""What can be wrong with the reservations of a stack, and with who shares them."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from components.capacity.purchase import OPEN_PURCHASE_OPTIONS
from components.config.base import is_zone_id
from components.config.eks import NodeGroup
from components.config.reservations import CapacityBlock, OdcrGroup, Reservation
from components.config.review import Review
from components.config.stack import StackConfig


def review_reservations(config: StackConfig, region: str, now: datetime, review: Review) -> None:
    """Record what is wrong with the reservations of a stack file."""
    for name, reservation in config.reservations.items():
        key = f"reservations.{name}"
        groups = {
            group_name: group
            for group_name, group in config.architecture.node_groups.items()
            if group.purchase_option == name
        }
        if name in OPEN_PURCHASE_OPTIONS:
            review.refuse(
                key,
                "has the name of a way to buy capacity without a reservation, so that "
                "`purchase_option` could mean either",
                remedy="rename the reservation",
            )
        if not groups:
            review.note(f"reservation {name}: no node group uses it")
        _review_region(review, key, reservation, region)
        _review_end(review, key, reservation, now)
        _review_count(review, name, reservation, groups)
    _review_twice(config, review)


def _review_region(review: Review, key: str, reservation: Reservation, region: str) -> None:
    zone = reservation.availability_zone
    if zone is not None and not is_zone_id(zone) and not zone.startswith(region):
        review.refuse(
            f"{key}.availability_zone",
            f"lies outside of the stack's region, {region}",
            found=zone,
            allowed=f"a zone of {region}",
            remedy="change the zone, or `aws:region`",
        )


def _review_end(review: Review, key: str, reservation: Reservation, now: datetime) -> None:
    if not isinstance(reservation, CapacityBlock) or reservation.ends_at is None:
        return
    if now >= reservation.ends_at:
        review.refuse(
            f"{key}.ends_at",
            "lies in the past: the Capacity Block has expired, and nothing launches into it",
            found=reservation.ends_at.isoformat(),
            allowed="a block that is scheduled or active",
            remedy=(
                f"buy another block and set its id: "
                f"{review.set_command(f'{key}.reservation_id', 'cr-…')} "
                "(and `starts_at` and `ends_at`, if the file has them); or remove the reservation "
                "and the node groups that use it"
            ),
        )


def _review_count(
    review: Review, name: str, reservation: Reservation, groups: dict[str, NodeGroup]
) -> None:
    count = reservation.instance_count
    if count is None:
        return
    desired = sum(group.desired for group in groups.values())
    if desired > count:
        names = ", ".join(f"{key} {group.desired}" for key, group in groups.items())
        ids = ", ".join(_ids(reservation))
        first = next(iter(groups))
        review.refuse(
            f"architecture.node_groups.{first}.desired",
            (
                f"asks for more nodes than the reservation `{name}` ({ids}) holds: "
                f"{desired} of {count}; the ones beyond it never launch"
            ),
            found=names,
            allowed=f"at most {count}, over all node groups that use `{name}`",
            remedy=review.set_command(
                f"architecture.node_groups.{first}.desired",
                str(max(count - desired + groups[first].desired, 0)),
            ),
        )
    elif sum(group.maximum for group in groups.values()) > count:
        review.note(f"reservation {name}: node groups may grow beyond its {count} instances")


def _review_twice(config: StackConfig, review: Review) -> None:
    names: dict[str, list[str]] = defaultdict(list)
    for name, reservation in config.reservations.items():
        for reservation_id in _ids(reservation):
            names[reservation_id].append(name)
    for reservation_id, users in names.items():
        if len(users) > 1:
            review.refuse(
                f"reservations.{users[1]}",
                (
                    "lists one reservation twice"
                    if users[0] == users[1]
                    else f"is the same reservation as `{users[0]}`; its instances would count twice"
                ),
                found=reservation_id,
                remedy=(
                    "remove the second one"
                    if users[0] == users[1]
                    else f"remove it here, and use `{users[0]}` as `purchase_option`"
                ),
            )


def _ids(reservation: Reservation) -> tuple[str, ...]:
    if isinstance(reservation, OdcrGroup):
        members = tuple(member.rpartition("/")[2] for member in reservation.members or ())
        return (reservation.group_arn,) if reservation.group_arn else members
    return (reservation.reservation_id,)
