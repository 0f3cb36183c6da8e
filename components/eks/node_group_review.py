"""What can be wrong with a node group that its schema alone cannot see.

Nothing here asks the account: `components.account` compares with what really exists.
"""

from __future__ import annotations

from components.capacity.pool_review import (
    note_unlisted_zone,
    purchase_options,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_reserved_zone,
    review_usage_class,
    review_zone_region,
)
from components.catalog.instance_type import InstanceType
from components.config.eks import NodeGroup
from components.config.network import ExistingVpc
from components.config.review import Review
from components.eks.device_plugin_plan import review_accelerators, review_efa_plugin
from components.eks.label_plan import review_labels, review_taints
from components.eks.node_group_option_review import review_options
from components.eks.node_group_plan import SYSTEM_NODE_GROUP, NodeGroupContext, one_zone
from components.eks.zone_choice import launch_zone
from components.network.candidate_zones import candidate_zones


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
    reservations = context.config.reservations
    review_purchase_option(review, key, group.purchase_option, reservations)
    if found is not None:
        review_accelerators(review, key, found)
        review_usage_class(review, key, group.purchase_option, reservations, found)
        _review_efa(review, key, group, found, context)
        zone = launch_zone(group, reservations.get(group.purchase_option))
        note_unlisted_zone(review, f"node group {name}", zone, found)
    _review_zone(review, key, group, context, region)
    _review_subnet(review, key, group, context)
    review_options(review, name, group)
    review_labels(review, key, group.labels)
    review_taints(review, key, group.taints)


def _review_efa(
    review: Review, key: str, group: NodeGroup, found: InstanceType, context: NodeGroupContext
) -> None:
    if not group.efa_enabled:
        return
    plugin = context.config.architecture.addons.efa_device_plugin
    if review_efa_support(review, key, found) and plugin:
        review_efa_plugin(review, key, found.name)
    # An unknown purchase option is refused by itself; it may well be meant to give the zone.
    known = group.purchase_option in purchase_options(context.config.reservations)
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


def _review_zone(
    review: Review, key: str, group: NodeGroup, context: NodeGroupContext, region: str
) -> None:
    zone = group.availability_zone
    if zone is None:
        return
    review_zone_region(review, key, zone, region)
    reservation = context.config.reservations.get(group.purchase_option)
    reserved = reservation.availability_zone if reservation else None
    review_reserved_zone(review, key, zone, group.purchase_option, reserved, what="this node group")
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
