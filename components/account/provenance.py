"""The placement group of a reservation and its owner.

`DescribeCapacityReservations` returns the group (`PlacementGroupArn`), whose ARN contains the owner
account. Nodes can launch by name only into a group of their own account, so a reservation in a
group of any other account is `aws-assisted`. A reservation without a group needs no placement
group, whether AWS or the customer created it.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.account.facts import ReservationFacts
from trainyard.components.config.reservations import CapacityBlock, Provenance, Reservation


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
