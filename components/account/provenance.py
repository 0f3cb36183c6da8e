"""Whose placement group a reservation was made in, as the account tells it.

`DescribeCapacityReservations` names the group (`PlacementGroupArn`), and the group's ARN names the
account that owns it. By its name nodes can launch into a group of their own account only, so a
reservation in a group of another account is `aws-assisted` here, whoever that account is. One that
names no group has its place already, and is launched into in one way whether AWS or the customer
has made it.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

from collections.abc import Sequence

from components.account.facts import ReservationFacts
from components.config.reservations import CapacityBlock, Provenance, Reservation


def read_provenance(
    asked: Reservation, found: Sequence[ReservationFacts], account_id: str
) -> dict[str, Provenance | str | None]:
    """Return `provenance` and `placement_group` of a reservation that is `auto`.

    Empty where the stack file says it itself, where the account does not tell its own id, and where
    the reservations behind one entry were made in different groups.
    """
    if isinstance(asked, CapacityBlock) or asked.provenance != "auto" or not account_id:
        return {}
    places = {(each.placement_group, each.placement_group_owner_id) for each in found}
    if len(places) != 1:
        return {}
    ((group, owner),) = places
    if group is not None and owner != account_id:
        return {"provenance": "aws-assisted", "placement_group": None}
    return {"provenance": "own", "placement_group": group}
