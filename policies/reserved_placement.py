"""Whether a placement group may stand beside a targeted reservation.

A resource does not show who made the reservation that it targets, nor where, so that is declared
in the configuration of the rules that ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.account_facts import RESERVATIONS
from policies.props import UNKNOWN

CONFIG_SCHEMA = RESERVATIONS

_IDLE = "such launches fail with InsufficientInstanceCapacity while the reservation stands idle"


def placement_fault(group: Any, reservation: Any, config: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a placement group beside a reservation, None if nothing is.

    Args:
        group: name or id, `UNKNOWN`, or None where the launch names none.
        reservation: id or ARN of a group of reservations, `UNKNOWN`, or None.
        config: as `CONFIG_SCHEMA` describes it.
    """
    if group is None or reservation is None:
        return None
    own = config.get("own_reservations") or {}
    if reservation in (config.get("assisted_reservations") or ()):
        return (
            f"it targets {reservation}, which AWS made in a placement group of its own, and also "
            f"launches into {_named(group)}; {_IDLE}; remove the placement group"
        )
    if reservation not in own and not _is_group_of(own, reservation, group):
        return (
            f"it targets {_named(reservation)} and also launches into {_named(group)}; if AWS made "
            f"the reservation, it has a placement group already, and {_IDLE}; remove the "
            "placement group, or, if the reservation is your own and was made in that group, "
            "declare it in own_reservations of this rule's configuration"
        )
    if own.get(reservation, group) not in ("", group):
        return (
            f"it launches into {_named(group)}, but {reservation} was made in "
            f"{own[reservation]!r}, and {_IDLE}; use {own[reservation]!r}, or remove the "
            "placement group"
        )
    return None


def _is_group_of(own: Mapping[str, str], target: object, group: object) -> bool:
    """Whether a group of reservations is targeted in the placement group of its members.

    The ARN of a group that the program makes itself cannot be declared beforehand.
    """
    is_group = target is UNKNOWN or str(target).startswith("arn:")
    return is_group and group is not UNKNOWN and group in own.values()


def _named(value: object) -> str:
    return "one that this program makes" if value is UNKNOWN else repr(value)
