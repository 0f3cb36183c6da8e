"""Checks of node groups beyond their schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.components.capacity.pool_review import (
    note_unlisted_zone,
    review_efa_support,
    review_instance_type,
    review_purchase_option,
    review_usage_class,
)
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType
from trainyard.components.config.eks import EksStackConfig, NodeGroup
from trainyard.components.config.problems import Review
from trainyard.components.eks.addons.efa_device_plugin import review_efa_plugin
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS, EksAddon
from trainyard.components.eks.addons.neuron_device_plugin import review_accelerators
from trainyard.components.eks.label_plan import (
    review_labels,
    review_managed,
    review_required_verification,
    review_taints,
)
from trainyard.components.eks.node_group_plan import (
    SYSTEM_NODE_GROUP,
    Context,
    NodeGroupPlan,
    pods_of_addresses,
)
from trainyard.components.network.pool_place import (
    PoolPlace,
    review_missing_zone,
    review_pool_subnet,
    review_pool_zone,
)

# Checks of a node group beyond its schema.
#
# Nothing here queries the account; `trainyard.components.account` does.


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


# Check that the pods of the cluster's services fit on the system nodes.
#
# Sources:
#     https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/eni_max_pods.go
#     (pods of a node)
#     https://docs.aws.amazon.com/eks/latest/userguide/coredns-autoscaling.html (two replicas)
#     The charts of the drivers and agents, which `trainyard.components.eks.addons` names: a
#     DaemonSet each


_KEY = "architecture.system_node_group"
_ALWAYS = 2
"""DaemonSets of every cluster: VPC CNI and kube-proxy."""
_COREDNS = 2


def review_system_pods(
    config: EksStackConfig, groups: Iterable[NodeGroupPlan], review: Review
) -> None:
    """Refuse system nodes that have too few pods for DaemonSets, CoreDNS and controllers.

    The CoreDNS add-on is DEGRADED until its pods run, and `up` waits 20 minutes for that. If other
    nodes without taints can run the pods, this is a note.
    """
    planned = {group.name: group for group in groups}
    system = planned.pop(SYSTEM_NODE_GROUP, None)
    if system is None:
        return
    addons = [addon for addon in EKS_ADDONS if addon.wanted(config)]
    daemons, replicas = _daemons(addons), _replicas(addons)
    most = pods_of_addresses(system.instance_type)
    room = system.nodes * max(most - daemons, 0)
    if room >= replicas:
        return
    problem = (
        f"takes {most} pods on each node, because VPC CNI gives each an address of an interface; "
        f"{system.nodes} nodes have {daemons} of DaemonSets each, so {room} remain for {replicas} "
        "of CoreDNS and the drivers"
    )
    if any(group.nodes and not group.first_taints for group in planned.values()):
        review.note(f"{_KEY}: {system.instance_type.name} {problem}; the rest run on other nodes")
        return
    review.refuse(
        f"{_KEY}.instance_type",
        f"{problem}; they wait for a node, and `up` fails after 20 minutes",
        found=system.instance_type.name,
        allowed=f"a type with {daemons + -(-replicas // max(system.nodes, 1))} pods or more",
        remedy=review.set_command(f"{_KEY}.instance_type", _larger(system)),
    )


def _daemons(addons: Sequence[EksAddon]) -> int:
    """Return the pods of DaemonSets on a node; the CloudWatch agent uses the node's network."""
    return _ALWAYS + len(addons)


def _replicas(addons: Sequence[EksAddon]) -> int:
    return _COREDNS + sum(addon.replicas for addon in addons)


def _larger(system: NodeGroupPlan) -> str:
    """Return a larger type of the family, or one that is large enough for every add-on."""
    wanted = f"{system.instance_type.family}.large"
    return wanted if wanted in INSTANCE_TYPES else "m5.large"
