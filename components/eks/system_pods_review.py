"""Check that the pods of the cluster's services fit on the system nodes.

Sources:
    https://github.com/awslabs/amazon-eks-ami/blob/main/nodeadm/internal/kubelet/eni_max_pods.go
    (pods of a node)
    https://docs.aws.amazon.com/eks/latest/userguide/coredns-autoscaling.html (two replicas)
    The charts of the drivers and agents, which `trainyard.components.eks.addons` names: a DaemonSet
    each
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.review import Review
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS, EksAddon
from trainyard.components.eks.node_group_plan import SYSTEM_NODE_GROUP, NodeGroupPlan
from trainyard.components.eks.pod_plan import pods_of_addresses

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
