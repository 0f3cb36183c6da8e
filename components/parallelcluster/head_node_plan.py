"""The plan and the checks of the head node, and of access to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trainyard.components.capacity.pool_review import review_instance_type, review_zone_region
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.catalog.parallelcluster import (
    MOST_HEAD_NODE_MEMORY_GIB,
    NODES_PER_GIB,
    OPERATING_SYSTEM_MEMORY_GIB,
)
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.parallelcluster import HeadNode
from trainyard.components.config.problems import Review
from trainyard.components.network.network_plan import SubnetPlan
from trainyard.components.parallelcluster.node_scripts import plan_access, review_access
from trainyard.components.parallelcluster.plan import HeadNodePlan
from trainyard.components.parallelcluster.queue_plan import Context
from trainyard.components.parallelcluster.root_volume_review import review_root_volume
from trainyard.components.parallelcluster.ssh_review import review_ssh


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


# Checks of the head node beyond its schema.
#
# Names in parentheses are validators of ParallelCluster.


KEY = "architecture.head_node"


def review_head_node(context: Context, review: Review) -> None:
    """Record problems of the head node in the stack file."""
    architecture = context.config.architecture
    node = architecture.head_node
    found = review_instance_type(review, KEY, node.instance_type)
    if found is not None:
        _review_memory(found, context, review)
    review_zone_region(review, KEY, node.availability_zone, context.region)
    if node.subnet_id is not None:
        _review_subnet(node, node.subnet_id, context, review)
    elif not candidate_subnets(node, context):
        _review_kind(context, review)
    else:
        _review_zone(node, context, review)
    review_root_volume(KEY, node.root_volume, architecture.custom_ami_id, review)
    public = is_public(node, context)
    review_ssh(node, architecture.operating_system, review, public=public)
    review_access(KEY, node, context.config, review)


def _review_memory(found: InstanceType, context: Context, review: Review) -> None:
    queues = context.config.architecture.queues.values()
    nodes = sum(each.maximum for queue in queues for each in queue.compute_resources.values())
    needed = min(nodes / NODES_PER_GIB + OPERATING_SYSTEM_MEMORY_GIB, MOST_HEAD_NODE_MEMORY_GIB)
    if found.memory_mib / 1024 >= needed:
        return
    review.refuse(
        f"{KEY}.instance_type",
        (
            f"has {found.memory_mib / 1024:g} GiB of memory, too little for the Slurm controller "
            f"of {nodes} nodes (HeadNodeMemorySizeValidator)"
        ),
        found=found.name,
        allowed=f"a type with {math.ceil(needed)} GiB or more",
        remedy=review.set_command(f"{KEY}.instance_type", "m5.2xlarge"),
    )


def _review_subnet(node: HeadNode, subnet: str, context: Context, review: Review) -> None:
    network, key = context.config.network, f"{KEY}.subnet_id"
    if not isinstance(network, ExistingVpc):
        review.refuse(
            key,
            "names a subnet, but the stack creates the subnets of a new VPC itself",
            found=subnet,
            allowed=f"`availability_zone`: {', '.join(network.availability_zones)}",
            remedy="remove it, and set `network` and `availability_zone`",
        )
        return
    listed = (*network.public_subnet_ids, *network.private_subnet_ids)
    if subnet not in listed:
        review.refuse(
            key,
            "is not a subnet of the network",
            found=subnet,
            allowed=", ".join(listed),
            remedy=review.set_command(key, listed[0]),
        )
    if node.availability_zone is not None:
        review.refuse(
            key,
            "is given together with `availability_zone`; a subnet already determines the zone",
            found=subnet,
            allowed="one of `subnet_id` and `availability_zone`",
            remedy="remove one of the two",
        )


def _review_kind(context: Context, review: Review) -> None:
    if context.network.is_new:
        return  # the VPC review reports it
    key = f"{KEY}.network"
    review.refuse(
        key,
        "is public, but `network.public_subnet_ids` has no subnet",
        found="public",
        allowed="private, or a public subnet in `network.public_subnet_ids`",
        remedy=review.set_command(key, "private"),
    )


def _review_zone(node: HeadNode, context: Context, review: Review) -> None:
    subnets = plan_head_node(context).subnets
    if len(subnets) == 1 and node.availability_zone is None:
        return
    zone = head_node_zone(context)
    candidates = candidate_subnets(node, context)
    if zone is not None and any(s.availability_zone == zone for s in candidates):
        return
    known = [s.availability_zone for s in candidates if s.availability_zone is not None]
    if not context.subnets_known:
        review.note(
            f"head node: launches in the {node.network} subnet in "
            f"{zone or 'the zone of its queues'}, which can only be read from the account"
        )
        return
    review.refuse(
        f"{KEY}.availability_zone",
        f"has no {node.network} subnet: the network has none in {zone}",
        found=node.availability_zone,
        allowed=", ".join(known or [s.name for s in candidates]),
        remedy="set the zone of one of them, or `subnet_id`",
    )
