"""The plan of the head node."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.config.parallelcluster_nodes import HeadNode
from trainyard.components.network.network_plan import SubnetPlan
from trainyard.components.parallelcluster.node_access_plan import plan_access
from trainyard.components.parallelcluster.plan import HeadNodePlan
from trainyard.components.parallelcluster.queue_context import Context


def plan_head_node(context: Context) -> HeadNodePlan:
    """Return the plan of the head node.

    Its subnet is the configured one, the one in its zone, or the first one. In an existing VPC,
    whose zones only the account knows, the plan has all candidates.
    """
    node = context.config.architecture.head_node
    return HeadNodePlan(
        instance_type=node.instance_type,
        subnets=_subnets(node, context),
        public=is_public(node, context),
        root_volume=node.root_volume,
        key_name=node.ssh.key_name,
        public_key=node.ssh.public_key,
        allowed_cidr=node.ssh.allowed_cidr,
        access=plan_access(node, context.region),
    )


def is_public(node: HeadNode, context: Context) -> bool:
    """Return whether the head node is in a public subnet; a configured subnet has priority."""
    if node.subnet_id is None:
        return node.network == "public"
    return any(node.subnet_id == subnet.name for subnet in context.network.public_subnets)


def head_node_zone(context: Context) -> str | None:
    """Return the zone of the head node: the configured one, else that of a queue.

    The same zone as the nodes avoids cross-zone traffic costs, and shared EBS volumes require it.
    """
    own = context.config.architecture.head_node.availability_zone
    queues = (place.zone for place in context.places().values())
    return own or next((zone for zone in queues if zone is not None), None)


def candidate_subnets(node: HeadNode, context: Context) -> Sequence[SubnetPlan]:
    """Return the candidate subnets of the head node, public or private."""
    network = context.network
    return network.public_subnets if node.network == "public" else network.private_subnets


def _subnets(node: HeadNode, context: Context) -> tuple[str, ...]:
    if node.subnet_id is not None:
        return (node.subnet_id,)
    candidates = candidate_subnets(node, context)
    zone = head_node_zone(context)
    if zone is None:
        return _first(candidates, context)
    in_zone = tuple(s.name for s in candidates if s.availability_zone == zone)
    return in_zone[:1] or tuple(subnet.name for subnet in candidates)


def _first(candidates: Sequence[SubnetPlan], context: Context) -> tuple[str, ...]:
    # A queue in one subnet of an existing VPC has one zone, which only the account knows.
    named = (len(q.subnet_ids) == 1 for q in context.config.architecture.queues.values())
    open_ = not context.network.is_new and any(named) and not context.subnets_known
    return tuple(s.name for s in (candidates if open_ else candidates[:1]))
