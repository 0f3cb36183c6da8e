"""Facts of the reservations in a stack file: their state, placement group and holders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.components.account.facts import AccountFacts
from trainyard.components.capacity.facts import Holders, ReservationFacts
from trainyard.components.config.reservations import (
    CapacityBlock,
    OdcrGroup,
    Provenance,
    Reservation,
)
from trainyard.components.config.stack import StackConfig

# The placement group of a reservation and its owner.
#
# `DescribeCapacityReservations` returns the group (`PlacementGroupArn`), whose ARN contains the
# owner account. Nodes can launch by name only into a group of their own account, so a reservation
# in a group of any other account is `aws-assisted`. A reservation without a group needs no
# placement group, whether AWS or the customer created it.
#
# Source:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html


def read_provenance(
    asked: Reservation, found: Sequence[ReservationFacts], account_id: str
) -> dict[str, Provenance | str | None]:
    """Return `provenance` and `placement_group` of a reservation with `provenance: auto`.

    Empty if the stack file sets them, if the account id is unknown, or if the reservations of one
    entry are in different groups.
    """
    if isinstance(asked, CapacityBlock) or asked.provenance != "auto" or not account_id:
        return {}
    places = {(each.placement_group, each.placement_group_owner_id) for each in found}
    if len(places) != 1:
        return {}
    group = own_placement_group(found[0], account_id)
    provenance = "aws-assisted" if is_aws_assisted(found[0], account_id) else "own"
    return {"provenance": provenance, "placement_group": group}


def is_aws_assisted(found: ReservationFacts, account_id: str) -> bool:
    """Return whether a reservation is in a placement group of another account."""
    return found.placement_group is not None and found.placement_group_owner_id != account_id


def own_placement_group(found: ReservationFacts, account_id: str) -> str | None:
    """Return the placement group of a reservation if the account owns it."""
    return None if is_aws_assisted(found, account_id) else found.placement_group


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


DESCRIBE = "ec2:DescribeCapacityReservations"


LIST_GROUP_RESOURCES = "resource-groups:ListGroupResources"


def reservation_ids(
    reservation: Reservation, groups: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the reservation ids of one entry of the stack file.

    That of a reservation that the stack creates is known only in a completed configuration.
    """
    if not isinstance(reservation, OdcrGroup):
        return (reservation.reservation_id,) if reservation.reservation_id else ()
    if reservation.group_arn is not None:
        return groups.get(reservation.group_arn, ())
    return tuple(member.rpartition("/")[2] for member in reservation.members or ())


def found_reservations(reservation: Reservation, facts: AccountFacts) -> list[ReservationFacts]:
    """Return the existing reservations of one entry."""
    ids = reservation_ids(reservation, facts.reservation_groups)
    return [facts.reservations[i] for i in ids if i in facts.reservations]


def kind_of(reservation: Reservation) -> str:
    """Return the kind of the reservations of one entry: `odcr` or `capacity-block`."""
    return "odcr" if isinstance(reservation, OdcrGroup) else reservation.kind


def reservations_of_kind(reservation: Reservation, facts: AccountFacts) -> list[ReservationFacts]:
    """Return the existing reservations of one entry, without those of another kind."""
    kind = kind_of(reservation)
    return [each for each in found_reservations(reservation, facts) if each.kind == kind]


def held_count(found: Sequence[ReservationFacts]) -> int | None:
    """Return how many instances reservations have together; None if one does not show it yet."""
    counts = [each.known_count for each in found]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def is_shared_later(reservation: Reservation) -> bool:
    """Return whether the reservation is invisible until the stack accepts its share."""
    return not isinstance(reservation, CapacityBlock) and reservation.resource_share_arn is not None


def unseen_reservation_warnings(config: StackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield the entries of `reservations` that are invisible until their share is accepted."""
    if not facts.could_read(DESCRIBE):
        return
    for name, reservation in config.reservations.items():
        seen = len(found_reservations(reservation, facts))
        all_ids = reservation_ids(reservation, facts.reservation_groups)
        if is_shared_later(reservation) and seen < len(all_ids):
            yield (
                f"reservation {name} is not seen yet: the stack accepts its resource share first, "
                "and the next command checks it"
            )


def reservation_zone(reservation: Reservation | None, facts: AccountFacts) -> str | None:
    """Return the zone of a reservation: from the account, else from the stack file, else None.

    The stack file decides where the stack creates one.
    """
    if reservation is None:
        return None
    if reservation.is_created:
        return reservation.availability_zone
    zones = {found.availability_zone for found in found_reservations(reservation, facts)}
    if len(zones) == 1:
        return zones.pop()
    return reservation.availability_zone


def complete_reservation(name: str, reservation: Reservation, facts: AccountFacts) -> Reservation:
    """Return the reservation with missing values filled in: count, zone, times, owners.

    Of a reservation that the stack has created, only the id is filled in: the stack file decides
    the rest. `name` is its entry.

    A count above that of the account is lowered; `stated_problems` refuses it.
    With `provenance: auto`, this includes the placement group. A group member that another account
    shares is replaced by its ARN, which is required to add it to a group.
    """
    if reservation.is_created:
        created = facts.created_reservations.get(name)
        return reservation.model_copy(update={"reservation_id": created})
    found = reservations_of_kind(reservation, facts)
    if not found:
        return reservation
    held, stated = held_count(found), reservation.instance_count
    update: dict[str, object] = {
        "instance_count": stated if held is None else held if stated is None else min(stated, held),
        **read_provenance(reservation, found, facts.account_id),
    }
    if isinstance(reservation, CapacityBlock):
        update |= block_times(reservation, found[0])
    if isinstance(reservation, OdcrGroup):
        update["availability_zone"] = reservation_zone(reservation, facts)
        update["members"] = reservation.members and tuple(
            _with_owner(member, facts) for member in reservation.members
        )
    return reservation.model_copy(update=update)


def block_times(block: CapacityBlock, found: ReservationFacts) -> dict[str, object]:
    """Return the start and the end of a block; what the stack file says comes first."""
    return {
        "starts_at": block.starts_at or found.starts_at,
        "ends_at": block.ends_at or found.ends_at,
    }


def _with_owner(member: str, facts: AccountFacts) -> str:
    found = facts.reservations.get(member)
    return found.arn if found is not None and found.arn else member
