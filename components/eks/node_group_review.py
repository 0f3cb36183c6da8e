"""What can be wrong with a node group that its schema alone cannot see.

Nothing here asks the account: `components.account` compares with what really exists.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from components.capacity.purchase import OPEN_PURCHASE_OPTIONS
from components.catalog.instance_type import InstanceType, UsageClass
from components.catalog.instance_types import (
    INSTANCE_TYPES,
    UnknownInstanceTypeError,
    instance_type,
)
from components.config.base import same_kind_of_zone
from components.config.eks import NodeGroup
from components.config.network import ExistingVpc
from components.config.review import Review
from components.eks.device_plugin_plan import review_accelerators, review_efa_plugin
from components.eks.label_plan import review_labels, review_taints
from components.eks.node_group_option_review import review_options
from components.eks.node_group_plan import SYSTEM_NODE_GROUP, NodeGroupContext, one_zone
from components.eks.zone_choice import candidate_zones

_USAGE_CLASS: dict[str, UsageClass] = {
    "on-demand": "on-demand",
    "spot": "spot",
    "odcr": "on-demand",
    "odcr-group": "on-demand",
    "capacity-block": "capacity-block",
}
"""Usage class that an instance type must support, by purchase option or kind of reservation."""


def review_node_group(
    name: str, group: NodeGroup, context: NodeGroupContext, region: str, review: Review
) -> None:
    """Record what is wrong with a node group of the stack file."""
    key = f"architecture.node_groups.{name}"
    if name == SYSTEM_NODE_GROUP:
        review.refuse(
            key,
            f"has the name of the node group for cluster services, `{SYSTEM_NODE_GROUP}`",
            remedy="rename the node group",
        )
    found = review_instance_type(review, key, group.instance_type)
    _review_purchase_option(review, key, group, context)
    if found is not None:
        review_accelerators(review, key, found)
        _review_usage_class(review, key, group, found, context)
        _review_efa(review, key, group, found, context)
        _note_unlisted_zone(review, name, group, found, context)
    _review_zone(review, key, group, context, region)
    _review_subnet(review, key, group, context)
    review_options(review, name, group)
    review_labels(review, key, group.labels)
    review_taints(review, key, group.taints)


def review_instance_type(review: Review, key: str, name: str) -> InstanceType | None:
    """Return an instance type by name; refuse a name that the catalog does not know."""
    try:
        return instance_type(name)
    except UnknownInstanceTypeError as error:
        nearest = ", ".join(error.nearest)
        review.refuse(
            f"{key}.instance_type",
            "is not an instance type that the catalog knows, so nothing can be planned for it",
            found=name,
            allowed=f"nearest: {nearest}" if nearest else "a type of components/catalog",
            remedy=review.set_command(
                f"{key}.instance_type", error.nearest[0] if error.nearest else "TYPE"
            ),
        )
        return None


def _purchase_options(context: NodeGroupContext) -> list[str]:
    return [*OPEN_PURCHASE_OPTIONS, *context.config.reservations]


def _review_purchase_option(
    review: Review, key: str, group: NodeGroup, context: NodeGroupContext
) -> None:
    options = _purchase_options(context)
    if group.purchase_option in options:
        return
    nearest = difflib.get_close_matches(group.purchase_option, options, n=1, cutoff=0.5)
    review.refuse(
        f"{key}.purchase_option",
        "is neither a way to buy capacity nor the name of an entry of `reservations`",
        found=group.purchase_option,
        allowed=", ".join(options),
        remedy=review.set_command(f"{key}.purchase_option", (nearest or options)[0]),
    )


def _review_usage_class(
    review: Review, key: str, group: NodeGroup, found: InstanceType, context: NodeGroupContext
) -> None:
    reservation = context.config.reservations.get(group.purchase_option)
    usage_class = _USAGE_CLASS.get(reservation.kind if reservation else group.purchase_option)
    if usage_class is None or usage_class in found.usage_classes:
        return
    review.refuse(
        f"{key}.purchase_option",
        f"cannot buy {found.name}, which EC2 does not offer as {usage_class}",
        found=group.purchase_option,
        allowed=f"for {found.name}: {', '.join(found.usage_classes)}",
        remedy="change `purchase_option` or `instance_type` of this node group",
    )


def _review_efa(
    review: Review, key: str, group: NodeGroup, found: InstanceType, context: NodeGroupContext
) -> None:
    if not group.efa_enabled:
        return
    if not found.efa_supported:
        review.refuse(
            f"{key}.efa_enabled",
            f"is on, but {found.name} has no EFA interface",
            found=True,
            allowed="true for types with EFA, such as " + ", ".join(_family_with_efa(found)),
            remedy=review.set_command(f"{key}.efa_enabled", "false"),
        )
    else:
        if context.config.architecture.addons.efa_device_plugin:
            review_efa_plugin(review, key, found.name)
    # An unknown purchase option is refused by itself; it may well be meant to give the zone.
    known = group.purchase_option in _purchase_options(context)
    if known and not one_zone(group, context):
        review.refuse(
            f"{key}.availability_zone",
            (
                "is missing: EFA traffic does not leave a zone, so all nodes must launch in one, "
                "and the stack file does not say in which"
            ),
            allowed=candidate_zones(found, context.config.network, context.offered_zones),
            remedy=review.set_command(f"{key}.availability_zone", "ZONE"),
        )


def _family_with_efa(found: InstanceType) -> Sequence[str]:
    efa = [t for t in INSTANCE_TYPES.values() if t.efa_supported]
    return [t.name for t in efa if t.family == found.family] or ["g4dn.8xlarge", "p5.48xlarge"]


def _note_unlisted_zone(
    review: Review, name: str, group: NodeGroup, found: InstanceType, context: NodeGroupContext
) -> None:
    # The offerings of the catalog age; only the account knows, so this stops nothing.
    reservation = context.config.reservations.get(group.purchase_option)
    zone = (reservation.availability_zone if reservation else None) or group.availability_zone
    if zone is not None and "-az" in zone and zone not in found.zone_ids:
        review.note(
            f"node group {name}: {found.name} was not offered in {zone} when the catalog was made"
        )


def _review_zone(
    review: Review, key: str, group: NodeGroup, context: NodeGroupContext, region: str
) -> None:
    zone = group.availability_zone
    if zone is None:
        return
    if zone.count("-") > 1 and not zone.startswith(region):
        review.refuse(
            f"{key}.availability_zone",
            f"lies outside of the stack's region, {region}",
            found=zone,
            allowed=f"a zone of {region}",
            remedy="change the zone, or `aws:region`",
        )
    reservation = context.config.reservations.get(group.purchase_option)
    reserved = reservation.availability_zone if reservation else None
    if reserved is not None and same_kind_of_zone(zone, reserved) and zone != reserved:
        review.refuse(
            f"{key}.availability_zone",
            (
                f"is not the zone of the reservation `{group.purchase_option}`, {reserved}; "
                "capacity is reserved in one zone only"
            ),
            found=zone,
            allowed=reserved,
            remedy="remove `availability_zone` of this node group: it follows from the reservation",
        )
    if group.subnet_id is not None:
        review.refuse(
            f"{key}.subnet_id",
            "stands beside `availability_zone`; a subnet already lies in one zone",
            found=group.subnet_id,
            allowed="one of `subnet_id` and `availability_zone`",
            remedy="remove one of the two",
        )


def _review_subnet(review: Review, key: str, group: NodeGroup, context: NodeGroupContext) -> None:
    network = context.config.network
    subnet = group.subnet_id
    if subnet is None:
        return
    if not isinstance(network, ExistingVpc):
        review.refuse(
            f"{key}.subnet_id",
            "names a subnet, and the stack makes its own in a new VPC",
            found=subnet,
            allowed=f"`availability_zone`: {', '.join(network.availability_zones)}",
            remedy=f"remove it; {review.set_command(f'{key}.availability_zone', 'ZONE')}",
        )
        return
    if subnet in network.private_subnet_ids:
        return
    public = subnet in network.public_subnet_ids
    review.refuse(
        f"{key}.subnet_id",
        (
            "is a public subnet; nodes run in private ones, and an instance with several "
            "interfaces gets no public address"
            if public
            else "is not one of `network.private_subnet_ids`"
        ),
        found=subnet,
        allowed=", ".join(network.private_subnet_ids),
        remedy=review.set_command(f"{key}.subnet_id", network.private_subnet_ids[0]),
    )
