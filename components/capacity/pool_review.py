"""Checks of the instance type, purchase option and zone of nodes.

EKS node groups and Slurm compute resources share them. Keys are relative to `trainyard:cluster`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from trainyard.components.capacity.purchase import OPEN_PURCHASE_OPTIONS
from trainyard.components.catalog.capacity_blocks import ultraserver_sizes
from trainyard.components.catalog.instance_types import (
    INSTANCE_TYPES,
    InstanceType,
    UnknownInstanceTypeError,
    UsageClass,
    instance_type,
    is_left_out,
    types_of_family,
)
from trainyard.components.catalog.regions import can_be_region, zone_region
from trainyard.components.config.base import is_zone_id, same_kind_of_zone
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import Reservation

_USAGE_CLASS: Mapping[str, UsageClass] = {
    "on-demand": "on-demand",
    "spot": "spot",
    "odcr": "on-demand",
    "odcr-group": "on-demand",
    "capacity-block": "capacity-block",
}
"""Usage class that an instance type must support, by purchase option or kind of reservation.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html,
`SupportedUsageClasses`
"""


def review_instance_type(review: Review, key: str, name: str) -> InstanceType | None:
    """Return an instance type by name; refuse a name that is not in the catalog."""
    try:
        return instance_type(name)
    except UnknownInstanceTypeError as error:
        # Another family has other accelerators: similar letters say nothing about a type.
        family = types_of_family(name)
        nearest = [each for each in error.nearest if each in family]
        review.refuse(
            f"{key}.instance_type",
            _why_unknown(name),
            found=name,
            allowed=", ".join(nearest or family) or "a type in the catalog",
            remedy=_type_remedy(review, f"{key}.instance_type", name, error.nearest),
            rules=("E1",),
        )
        return None


def _why_unknown(name: str) -> str:
    if ultraserver_sizes(name):
        return (
            "is an instance type of UltraServers that no stack can use: EC2 sells them in a Local "
            "Zone, and every job on them needs an IMEX domain (docs/capacity.md#ultraservers)"
        )
    if is_left_out(name):
        return (
            "is an instance type of EC2 whose network interfaces are not in the catalog, so a "
            "stack cannot have nodes of it"
        )
    return "is not an instance type in the catalog, so the program cannot plan nodes"


def _type_remedy(review: Review, key: str, name: str, nearest: Sequence[str]) -> str:
    """Return the command for a slip of typing; another size is only an example."""
    if is_left_out(name):
        return f"set `{key}` to a type with the accelerators of your jobs, or leave the nodes out"
    for each in nearest:
        family, _, size = each.partition(".")
        if re.fullmatch(rf"{family}[._ -]?{re.sub('[a-z]+', '[a-z.-]+', size)}", name.lower()):
            return review.set_command(key, each)
    family = types_of_family(name)
    example = next((each for each in nearest if each in family), family[0] if family else "")
    if nearest and not example:
        return f"set `{key}` to the name of a type, as `aws ec2 describe-instance-types` prints it"
    return review.example_of(key, example or "p5.48xlarge")


def purchase_options(reservations: Mapping[str, Reservation]) -> list[str]:
    """Return the allowed values of `purchase_option`."""
    return [*OPEN_PURCHASE_OPTIONS, *reservations]


def review_purchase_option(
    review: Review, key: str, option: str, reservations: Mapping[str, Reservation]
) -> bool:
    """Return whether a purchase option exists; refuse it otherwise."""
    options = purchase_options(reservations)
    if option in options:
        return True
    review.refuse(
        f"{key}.purchase_option",
        "is neither a purchase option nor the name of an entry of `reservations`",
        found=option,
        allowed=", ".join(options),
        remedy=review.nearest_command(f"{key}.purchase_option", option, options),
    )
    return False


def review_usage_class(
    review: Review,
    key: str,
    option: str,
    reservations: Mapping[str, Reservation],
    found: InstanceType,
) -> None:
    """Refuse a type that EC2 does not offer with this purchase option."""
    reservation = reservations.get(option)
    usage_class = _USAGE_CLASS.get(reservation.kind if reservation else option)
    if usage_class is None or usage_class in found.usage_classes:
        return
    review.refuse(
        f"{key}.purchase_option",
        f"cannot buy {found.name}, which EC2 does not offer as {usage_class}",
        found=option,
        allowed=f"for {found.name}: {', '.join(found.usage_classes)}",
        remedy="change `purchase_option` or `instance_type` of these nodes",
        rules=("C15",),
    )


def review_efa_support(review: Review, key: str, found: InstanceType) -> bool:
    """Return whether a type supports EFA; refuse `efa_enabled` if not."""
    if found.efa_supported:
        return True
    review.refuse(
        f"{key}.efa_enabled",
        f"is on, but {found.name} has no EFA interface",
        found=True,
        allowed="true for types with EFA, such as " + ", ".join(_family_with_efa(found)),
        remedy=review.set_command(f"{key}.efa_enabled", "false"),
        rules=("A1",),
    )
    return False


def _family_with_efa(found: InstanceType) -> Sequence[str]:
    efa = [t for t in INSTANCE_TYPES.values() if t.efa_supported]
    return [t.name for t in efa if t.family == found.family] or ["g4dn.8xlarge", "p5.48xlarge"]


def note_unlisted_zone(review: Review, what: str, zone: str | None, found: InstanceType) -> None:
    """Note a zone id that did not offer the type when the catalog was generated.

    This is not an error, because the catalog can be outdated and only the account has the current
    offerings.
    """
    if zone is not None and is_zone_id(zone) and zone not in found.zone_ids:
        review.note(
            f"{what}: {found.name} was not offered in {zone} when the catalog was generated"
        )


def review_zone_region(review: Review, key: str, zone: str | None, region: str) -> None:
    """Refuse a zone of another region, by name or by id."""
    if zone is None or not is_foreign_zone(zone, region):
        return
    at = f"{key}.availability_zone"
    theirs = zone_region(zone)
    is_slip = theirs is not None and not can_be_region(theirs)
    review.refuse(
        at,
        (
            f"names {theirs}, which is not a region"
            if is_slip
            else f"is not in the stack's region, {region}"
        ),
        found=zone,
        allowed=f"a zone of {region}",
        remedy=(
            review.set_command(at, f"{region}{zone[-1]}")
            if is_slip
            else "change the zone, or `aws:region`"
        ),
    )


def is_foreign_zone(zone: str, region: str) -> bool:
    """Return whether a zone belongs to another region; False for an id that is not known."""
    return zone_region(zone) not in (None, region)


def review_reserved_zone(
    review: Review, key: str, zone: str, reservation_name: str, reserved: str | None, *, what: str
) -> None:
    """Refuse a zone other than the one of the reservation.

    `what` names the owner of the zone: `this node group`.
    """
    if reserved is None or not same_kind_of_zone(zone, reserved) or zone == reserved:
        return
    review.refuse(
        f"{key}.availability_zone",
        (
            f"is not the zone of the reservation `{reservation_name}`, {reserved}; "
            "capacity is reserved in one zone only"
        ),
        found=zone,
        allowed=reserved,
        remedy=f"remove `availability_zone` of {what}, which the reservation determines: "
        f"{review.remove_command(f'{key}.availability_zone')}",
        rules=("C2", "D16"),
    )
