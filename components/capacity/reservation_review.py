"""Checks of the reservations of a stack and of their owners."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from trainyard.components.capacity.pool_review import review_zone_region
from trainyard.components.capacity.purchase import OPEN_PURCHASE_OPTIONS
from trainyard.components.capacity.timeline import ended_at, is_succeeded
from trainyard.components.catalog.capacity_blocks import ultraserver_sizes
from trainyard.components.config.node_pool import Pool
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock, OdcrGroup, Reservation
from trainyard.components.config.stack import StackConfig


def review_reservations(config: StackConfig, region: str, now: datetime, review: Review) -> None:
    """Record problems of the reservations of a stack file."""
    noun = config.architecture.POOL_NOUN
    users = {name: config.pools_with(name) for name in config.reservations}
    for name, reservation in config.reservations.items():
        key = f"reservations.{name}"
        if name in OPEN_PURCHASE_OPTIONS:
            review.refuse(
                key,
                "has the name of a purchase option, so that `purchase_option` could mean either",
                remedy="rename the reservation",
            )
        if reservation.is_created:
            _review_created(review, name, users[name], noun)
        elif not users[name]:
            review.note(f"reservation {name}: no {noun} uses it")
        if not config.architecture.ACCEPTS_SHARES:
            _review_share(review, key, reservation)
        if not isinstance(reservation, CapacityBlock) and reservation.provenance == "auto":
            review.note(
                f"reservation {name}: its placement group is not known yet (`provenance: auto`); "
                "its nodes are planned without one"
            )
        _review_region(review, key, reservation, region)
        if is_succeeded(config, name, now):
            _note_succeeded(review, name, users[name])
        else:
            _note_end(review, name, reservation, now)
        _review_count(review, name, reservation, users[name], noun)
    _review_twice(config, review)


def _review_created(review: Review, name: str, users: Sequence[Pool], noun: str) -> None:
    """Refuse a reservation without exactly one instance type, which is that of its nodes."""
    types = sorted({pool.instance_type for pool in users})
    if not users:
        review.refuse(
            f"reservations.{name}.create",
            f"is true, but no {noun} uses the reservation, and it has the type of its nodes",
            found=True,
            remedy=(
                f"set `purchase_option: {name}` for a {noun}, or release the reservation: set its "
                "`deletion_protection` to false, run `up`, and remove the entry"
            ),
        )
    elif len(types) > 1:
        review.refuse(
            f"reservations.{name}.create",
            "is true, but the nodes that use the reservation have several instance types, and a "
            "reservation has one",
            found=", ".join(f"{pool.name} {pool.instance_type}" for pool in users),
            allowed="one instance type",
            remedy="add a reservation for each type",
        )


def _review_share(review: Review, key: str, reservation: Reservation) -> None:
    if isinstance(reservation, CapacityBlock) or reservation.resource_share_arn is None:
        return
    review.refuse(
        f"{key}.resource_share_arn",
        "is supported by ParallelCluster and AWS Batch stacks only; nodes would find no "
        "reservation",
        found=reservation.resource_share_arn,
        remedy=("accept it once (`aws ram accept-resource-share-invitation`), and remove the key"),
    )


def _review_region(review: Review, key: str, reservation: Reservation, region: str) -> None:
    review_zone_region(review, key, reservation.availability_zone, region)


def _note_end(review: Review, name: str, reservation: Reservation, now: datetime) -> None:
    """Note a reservation that is over.

    `capacity.checks.over_problems` refuses it where a stack would be created: one that
    exists stays operable.
    """
    if ended_at(reservation, now) is not None:
        what = "Capacity Block" if isinstance(reservation, CapacityBlock) else "reservation"
        review.note(
            f"reservation {name}: the {what} is over, and EC2 launches no instance into it; "
            "`up` creates no stack with it"
        )


def _note_succeeded(review: Review, name: str, users: Sequence[Pool]) -> None:
    for pool in users:
        review.note(
            f"reservation {name}: the Capacity Block is over, and {pool.name} has no nodes; buy "
            "the next one for it, or remove it if it is one of `further_blocks`"
        )


def _review_count(
    review: Review, name: str, reservation: Reservation, users: Sequence[Pool], noun: str
) -> None:
    count = reservation.instance_count
    if _refuse_part(review, name, reservation, users, noun) or count is None:
        return
    wanted = sum(pool.wanted for pool in users)
    if wanted > count:
        first = users[0]
        review.refuse(
            first.wanted_key,
            (
                f"requests more nodes than the reservation `{name}` ("
                f"{', '.join(_ids(reservation)) or 'which the stack creates'}"
                f") has: {wanted} of {count}; the additional nodes never launch"
            ),
            found=", ".join(f"{pool.name} {pool.wanted}" for pool in users),
            allowed=f"at most {count}, over all {noun}s that use `{name}`",
            remedy=review.set_command(
                first.wanted_key, str(max(count - wanted + first.wanted, first.least))
            ),
            rules=("C5", "D12"),
        )
    elif sum(pool.maximum for pool in users) > count:
        review.note(f"reservation {name}: {noun}s can grow beyond its {count} instances")


def _refuse_part(
    review: Review, name: str, reservation: Reservation, users: Sequence[Pool], noun: str
) -> bool:
    """Refuse nodes that are a part of an UltraServer, or more than one; return whether they are.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html ("each UltraServer
    corresponds to one Capacity Block")
    """
    wanted = sum(pool.wanted for pool in users)
    sizes = ultraserver_sizes(users[0].instance_type) if users else ()
    if not isinstance(reservation, CapacityBlock) or not sizes or wanted in (0, *sizes):
        return False
    first, size = users[0], next((each for each in sizes if each > wanted), sizes[-1])
    whole = " or ".join(map(str, sizes))
    review.refuse(
        first.wanted_key,
        (
            f"is no whole UltraServer: the Capacity Block `{name}` has the {whole} "
            f"{first.instance_type} that one interconnect connects, and EC2 sells each UltraServer "
            "as a block of its own"
        ),
        found=", ".join(f"{pool.name} {pool.wanted}" for pool in users),
        allowed=f"0 or {whole}, over all {noun}s that use `{name}`",
        remedy=(
            f"{review.set_command(first.wanted_key, str(max(size - wanted + first.wanted, 0)))}; "
            "for more nodes, use `further_blocks`"
        ),
        rules=("D18",),
    )
    return True


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
    return (reservation.reservation_id,) if reservation.reservation_id else ()
