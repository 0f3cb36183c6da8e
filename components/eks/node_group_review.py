"""Checks of a node group beyond its schema.

Nothing here queries the account; `trainyard.components.account` does.
"""

from __future__ import annotations

from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_usage_class,
)
from trainyard.components.catalog.instance_type import InstanceType
from trainyard.components.config.eks import NodeGroup
from trainyard.components.config.review import Review
from trainyard.components.eks.addons.efa_device_plugin import review_efa_plugin
from trainyard.components.eks.addons.neuron_device_plugin import review_accelerators
from trainyard.components.eks.label_plan import review_labels, review_managed, review_taints
from trainyard.components.eks.node_group_plan import SYSTEM_NODE_GROUP, Context
from trainyard.components.eks.verification_plan import review_required_verification
from trainyard.components.network.pool_place import PoolPlace
from trainyard.components.network.pool_place_review import (
    review_missing_zone,
    review_pool_subnet,
    review_pool_zone,
)


def review_node_group(name: str, group: NodeGroup, context: Context, review: Review) -> None:
    """Record problems of a node group in the stack file."""
    place = context.place(f"architecture.node_groups.{name}")
    key = place.key
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
        _review_efa(review, place, group, found, context)
        note_unlisted_zone(review, place.name, place.zone, found)
        review_required_verification(key, group, found, context.config, review)
    review_pool_zone(place, context.region, review, what="this node group")
    review_pool_subnet(place, context.config.network, review)
    _note_ssh(review, name, group)
    review_labels(review, key, group.labels)
    review_taints(review, key, group.taints)
    if group.management == "managed":
        review_managed(review, key, group.labels, group.taints)


def _review_efa(
    review: Review,
    place: PoolPlace,
    group: NodeGroup,
    found: InstanceType,
    context: Context,
) -> None:
    if not group.efa_enabled:
        return
    key = place.key
    plugin = context.config.architecture.addons.efa_device_plugin
    if review_efa_support(review, key, found) and plugin:
        review_efa_plugin(review, key, found.name)
    review_missing_zone(place, group.purchase_option, found, context, review)


def _note_ssh(review: Review, name: str, group: NodeGroup) -> None:
    """Note that Session Manager needs neither a key nor an open port.

    https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager.html
    """
    if group.ssh_key_name is not None:
        review.note(
            f"node group {name}: nodes have the key {group.ssh_key_name}, but no security group "
            "opens port 22; `aws ssm start-session --target INSTANCE-ID` needs neither, and "
            "carries SSH with `--document-name AWS-StartSSHSession`"
        )
