"""Fill in the subnets of queues and head node of a ParallelCluster stack."""

from __future__ import annotations

from trainyard.components.account.facts import AccountFacts, SubnetFacts
from trainyard.components.account.launch_place import (
    Place,
    in_zone,
    place_of,
    private_subnets,
    public_subnets,
    spelled,
)
from trainyard.components.config.network import NewVpc
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.parallelcluster_nodes import HeadNode, Queue
from trainyard.components.config.stack import StackConfig


def complete_cluster(
    architecture: ParallelClusterArchitecture, config: StackConfig, facts: AccountFacts
) -> ParallelClusterArchitecture:
    """Return the architecture with the subnet of each queue that launches in one zone.

    A queue that can launch in any zone gets one subnet per zone: EC2 Fleet refuses two in one zone
    (https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html, `SubnetIds`). The
    head node gets the first subnet in the zone of the first queue that has one zone.
    """
    places = _places(config, facts)
    queues = {
        name: _with_subnets(queue, places.get(f"architecture.queues.{name}"), config, facts)
        for name, queue in architecture.queues.items()
    }
    zone = architecture.head_node.availability_zone or _first_zone(queues, facts)
    head_node = _with_subnet(architecture.head_node, zone, config, facts)
    return architecture.model_copy(update={"queues": queues, "head_node": head_node})


def _places(config: StackConfig, facts: AccountFacts) -> dict[str, Place]:
    """Return the place of each queue by its key: the first place of its compute resources."""
    found: dict[str, Place] = {}
    for pool in config.pools():
        place = place_of(pool, config, facts)
        if place is not None:
            found.setdefault(pool.launch_key, place)
    return found


def _with_subnets(
    queue: Queue, place: Place | None, config: StackConfig, facts: AccountFacts
) -> Queue:
    if place is not None:
        update = {
            "subnet_ids": (place.subnet_id,) if place.subnet_id else (),
            "availability_zone": place.availability_zone,
        }
        return queue.model_copy(update=update)
    if queue.subnet_ids or queue.availability_zone is not None:
        return queue
    first: dict[str, SubnetFacts] = {}
    subnets = private_subnets(config, facts)
    for subnet in subnets:
        first.setdefault(subnet.zone_id, subnet)
    if len(first) == len(subnets):
        return queue  # the plan treats an empty list as all subnets
    return queue.model_copy(update={"subnet_ids": tuple(s.subnet_id for s in first.values())})


def _first_zone(queues: dict[str, Queue], facts: AccountFacts) -> str | None:
    for queue in queues.values():
        if queue.availability_zone is not None:
            return queue.availability_zone
        if len(queue.subnet_ids) == 1 and queue.subnet_ids[0] in facts.subnets:
            return facts.subnets[queue.subnet_ids[0]].availability_zone
    return None


def _with_subnet(
    head_node: HeadNode, zone: str | None, config: StackConfig, facts: AccountFacts
) -> HeadNode:
    if head_node.subnet_id is not None:
        return head_node
    if isinstance(config.network, NewVpc):
        update = {"availability_zone": spelled(zone, config.network, facts) if zone else None}
        return head_node.model_copy(update=update)
    public = head_node.network == "public"
    subnets = (public_subnets if public else private_subnets)(config, facts)
    chosen = [subnet for subnet in subnets if zone is not None and in_zone(subnet, zone)]
    if not chosen and head_node.availability_zone is None:
        chosen = subnets  # in another zone than its queues: works, with transfer costs
    if not chosen:
        return head_node
    update = {"subnet_id": chosen[0].subnet_id, "availability_zone": None}
    return head_node.model_copy(update=update)
