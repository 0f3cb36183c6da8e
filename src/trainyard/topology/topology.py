"""The picture of a stack as boxes, from its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.reservations import CapacityBlock, OdcrGroup, Reservation
from trainyard.components.config.stack import PlacedStackConfig
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.network.facts import SubnetFacts
from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, SharedStoragePlan
from trainyard.components.parallelcluster.queue_plan import QueuePlan
from trainyard.components.parallelcluster.storage_settings import STORAGE_TYPES
from trainyard.topology.box import Box, BoxRow, Occupant, Parts

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig


VPC, SUBNET = "trainyard:network:Vpc", "aws:ec2/subnet:Subnet"


def vpc_box(network: NetworkPlan, occupants: Sequence[Occupant], *, name: str, source: str) -> Box:
    """Return the box of a VPC.

    Args:
        network: Its plan; zones and address ranges of an existing VPC can be unknown.
        occupants: What is in its subnets.
        name: Name of the stack.
        source: Name of the stack whose network it is; empty if it is in the stack file.
    """
    return Box(
        kind="vpc",
        title=network.vpc_id or f"{name}-network",
        caption="VPC",
        lines=tuple(_vpc_lines(network, source)),
        outside=not network.is_new,
        rows=tuple(row for row in _rows(network, occupants, name) if row.boxes),
        resource=f"{VPC}::{name}-network" if network.is_new else "",
    )


def _vpc_lines(network: NetworkPlan, source: str) -> Iterator[str]:
    if network.blocks:
        yield ", ".join(network.blocks)
    if source:
        yield f"of the stack {source}"


def _rows(network: NetworkPlan, occupants: Sequence[Occupant], name: str) -> Iterator[BoxRow]:
    yield BoxRow(boxes=tuple(_services(network)))
    zones = list(dict.fromkeys(each.availability_zone for each in network.subnets))
    if None in zones:
        # Without the account, the zones of the subnets are unknown.
        subnets = tuple(_subnet(each, network, occupants, name) for each in network.subnets)
        yield BoxRow(boxes=tuple(box for box in subnets if box.kind == "public-subnet"))
        yield BoxRow(boxes=tuple(box for box in subnets if box.kind != "public-subnet"))
    else:
        boxes = (_zone(str(zone), network, occupants, name) for zone in zones)
        yield BoxRow(boxes=tuple(boxes), wraps=False)
    yield from _spanning(network, occupants)


def _services(network: NetworkPlan) -> Iterator[Box]:
    if network.is_new and network.public_subnets:
        yield Box(kind="network", title="Internet gateway")
    for kind, services in (
        ("Gateway endpoints", network.gateway_endpoints),
        ("Interface endpoints", network.interface_endpoints),
    ):
        if services:
            # The names begin with `com.amazonaws.REGION.`.
            names = ", ".join(each.split(".", 3)[-1] for each in services)
            yield Box(kind="network", title=kind, lines=(names,))
    if network.flow_logs:
        yield Box(kind="network", title="Flow logs", lines=("to CloudWatch Logs",))


def _zone(zone: str, network: NetworkPlan, occupants: Sequence[Occupant], name: str) -> Box:
    subnets = [each for each in network.subnets if each.availability_zone == zone]
    boxes = (_subnet(each, network, occupants, name) for each in subnets)
    return Box(
        kind="zone",
        title=zone,
        caption="Availability Zone",
        outside=True,
        rows=tuple(BoxRow(boxes=(box,)) for box in boxes),
    )


def _subnet(
    subnet: SubnetPlan, network: NetworkPlan, occupants: Sequence[Occupant], name: str
) -> Box:
    inside = [each.box for each in occupants if each.subnets == (subnet.name,)]
    if subnet.name in network.nat_gateways:
        inside.insert(0, Box(kind="network", title="NAT gateway"))
    return Box(
        kind="public-subnet" if subnet.public else "private-subnet",
        title=subnet.name,
        caption="public subnet" if subnet.public else "private subnet",
        lines=(subnet.cidr,) if subnet.cidr else (),
        outside=not network.is_new,
        rows=(BoxRow(boxes=tuple(inside)),) if inside else (),
        resource=f"{SUBNET}::{name}-network-{subnet.name}" if network.is_new else "",
    )


def _spanning(network: NetworkPlan, occupants: Sequence[Occupant]) -> Iterator[BoxRow]:
    """Yield boxes of what is in several subnets, or in one that only the account knows."""
    places = dict.fromkeys(
        (each.subnets, each.in_one) for each in occupants if len(each.subnets) != 1
    )
    for subnets, in_one in places:
        inside = [
            each.box for each in occupants if (each.subnets, each.in_one) == (subnets, in_one)
        ]
        if not subnets:
            yield BoxRow(boxes=tuple(inside))
            continue
        public = all(network.subnet(each).public for each in subnets)
        noun = f"{'public' if public else 'private'} subnets"
        title = f"One of {len(subnets)} {noun}" if in_one else f"{len(subnets)} {noun}"
        box = Box(
            kind="public-subnet" if public else "private-subnet",
            title=title,
            caption="the account decides which" if in_one else "nodes are in all of them",
            lines=(", ".join(subnets),),
            outside=not network.is_new,
            rows=(BoxRow(boxes=tuple(inside)),),
        )
        yield BoxRow(boxes=(box,))


_RESERVED = {
    "capacity-block": "Capacity Block for ML",
    "odcr": "On-Demand Capacity Reservation",
    "odcr-group": "group of Capacity Reservations",
}
_MAKERS = {"nvidia": "NVIDIA", "neuron": "AWS"}


def nodes_box(
    pool: NodePoolPlan, *, caption: str, resource: str = "", more: Iterable[str] = ()
) -> Box:
    """Return the box of the nodes of a pool.

    Args:
        pool: Its plan.
        caption: What it is in its architecture, such as `managed node group`.
        resource: `TYPE::NAME` of its component.
        more: Lines of its architecture.
    """
    return Box(
        kind="nodes",
        title=pool.name,
        caption=caption,
        lines=(f"{count(pool)} x {pool.instance_type.name}", *_facts(pool), *more),
        interfaces=tuple(each.interface_type for each in pool.interfaces.interfaces)
        if pool.interfaces
        else (),
        anchor=anchor_of(pool),
        resource=resource,
    )


def anchor_of(pool: NodePoolPlan) -> str:
    """Return the id of the section of a report about a pool; unique in a stack."""
    own = pool.key if pool.name == pool.pool else f"{pool.key}.{pool.name}"
    return own.replace(".", "-")


def count(pool: NodePoolPlan) -> str:
    """Return the number of nodes as text: `2`, or `0 to 16`."""
    if pool.nodes == pool.most_nodes:
        return str(pool.nodes)
    return f"{pool.nodes} to {pool.most_nodes}"


def accelerators(pool: NodePoolPlan) -> str:
    """Return the accelerators of one node as text; empty without."""
    found = pool.instance_type.accelerators
    if found is None:
        return ""
    memory = f"{found.memory_mib / 1024:.0f} GiB"
    return f"{found.count} x {_MAKERS[found.manufacturer]} {found.model}, {memory} each"


def _facts(pool: NodePoolPlan) -> Iterator[str]:
    if pool.instance_type.accelerators:
        yield accelerators(pool)
    if pool.interfaces:
        efa = pool.interfaces.efa_interfaces
        yield f"{efa} EFA interface{'s' if efa > 1 else ''} per node"
    if not pool.capacity.is_reserved:
        yield {"spot": "Spot"}.get(pool.capacity.kind, "On-Demand")
    if pool.placement.group != "none":
        yield f"cluster placement group{f' {pool.placement.name}' if pool.placement.name else ''}"


def is_in_one_subnet(pool: NodePoolPlan) -> bool:
    """Return whether all nodes launch in one subnet, also if only the account knows which."""
    capacity = pool.capacity
    return bool(pool.interfaces or capacity.is_reserved or capacity.availability_zone)


def placed(
    pools: Sequence[tuple[NodePoolPlan, Box]], reservations: Mapping[str, Reservation]
) -> Iterator[Occupant]:
    """Yield the boxes of nodes in their subnets, each inside its reservation, if it has one."""

    def place(each: tuple[NodePoolPlan, Box]) -> tuple[object, ...]:
        pool = each[0]
        reserved = pool.capacity.purchase_option if pool.capacity.is_reserved else ""
        return pool.subnets, is_in_one_subnet(pool), reserved

    # `groupby` joins neighbours; the order of the stack file stays, with pools of a place together.
    order = {key: index for index, key in enumerate(dict.fromkeys(map(place, pools)))}
    for _, found in groupby(sorted(pools, key=lambda each: order[place(each)]), key=place):
        together = [*found]
        pool, boxes = together[0][0], tuple(box for _, box in together)
        if pool.capacity.is_reserved:
            boxes = (_reservation(pool, boxes, reservations),)
        for box in boxes:
            yield Occupant(box=box, subnets=pool.subnets, in_one=is_in_one_subnet(pool))


def _reservation(
    pool: NodePoolPlan, boxes: tuple[Box, ...], reservations: Mapping[str, Reservation]
) -> Box:
    capacity = pool.capacity
    arn = capacity.reservation_group_arn
    title = capacity.reservation_id or (arn.rpartition("/")[2] if arn else "")
    return Box(
        kind="reservation",
        title=title or capacity.purchase_option,
        caption=_RESERVED[capacity.kind],
        lines=tuple(_terms(reservations.get(capacity.purchase_option))),
        outside=not capacity.reservation_group_members and capacity.creation is None,
        rows=(BoxRow(boxes=boxes),),
    )


def _terms(reservation: Reservation | None) -> Iterator[str]:
    if reservation is None:
        return
    count, zone = reservation.instance_count, reservation.availability_zone
    if count or zone:
        yield ", ".join([*([f"{count} instances"] if count else []), *([zone] if zone else [])])
    if isinstance(reservation, CapacityBlock):
        for name, at in (("from", reservation.starts_at), ("until", reservation.ends_at)):
            if at is not None:
                yield f"{name} {at:%Y-%m-%d %H:%M} UTC"
    if isinstance(reservation, OdcrGroup) and reservation.members:
        yield f"{len(reservation.members)} reservations"


ENVIRONMENT = "trainyard:batch:BatchComputeEnvironment"


def batch_parts(config: PlacedStackConfig, plan: BatchPlan) -> Parts:
    """Return the job definitions, the repository and the compute environments with queues."""
    environments = [(each, _environment(each, plan)) for each in plan.compute_environments]
    return Parts(
        services=tuple(_batch_services(plan)),
        occupants=tuple(placed(environments, config.reservations)),
    )


def _environment(environment: ComputeEnvironmentPlan, plan: BatchPlan) -> Box:
    name, queue = plan.queue_name(environment.name), plan.queue_name(environment.pool)
    return nodes_box(
        environment,
        caption="compute environment",
        resource=f"{ENVIRONMENT}::{name}",
        more=(f"job queue {queue}",),
    )


def _batch_services(plan: BatchPlan) -> Iterator[Box]:
    for each in plan.job_definitions:
        nodes = f"{each.nodes} nodes" if each.nodes > 1 else "one node"
        yield Box(
            kind="control-plane",
            title=each.name,
            caption="Batch job definition",
            lines=(f"{nodes} of {each.compute_environment}", each.container.image or "own image"),
            resource=f"trainyard:batch:BatchJobDefinition::{plan.name}-{each.name}",
        )
    if plan.repository:
        yield Box(
            kind="storage",
            title=plan.repository.name,
            caption="ECR repository",
            lines=(f"keeps {plan.repository.kept_images} images",),
            resource=f"trainyard:batch:ContainerRepository::{plan.name}-images",
        )


_COMPONENTS = {
    "managed": "trainyard:eks:ManagedNodeGroup",
    "self-managed": "trainyard:eks:SelfManagedNodeGroup",
}


def eks_parts(config: PlacedStackConfig, plan: EksPlan) -> Parts:
    """Return the control plane, the add-ons, the node groups and the file systems."""
    groups = [(group, _group(group, plan)) for group in plan.node_groups]
    return Parts(
        services=tuple(_eks_services(plan)),
        occupants=(*placed(groups, config.reservations), *_file_systems(plan)),
    )


def _eks_services(plan: EksPlan) -> Iterator[Box]:
    yield Box(
        kind="control-plane",
        title=plan.name,
        caption="EKS control plane, in a VPC of AWS",
        lines=tuple(_control_plane(plan)),
        resource=f"trainyard:eks:EksCluster::{plan.name}",
    )
    names = ("vpc-cni", "kube-proxy", "coredns", *(each.name for each in plan.addons))
    own = ", ".join(plan.self_managed_addons)
    yield Box(
        kind="service",
        title="Add-ons",
        caption="in the cluster",
        lines=(f"of EKS: {', '.join(names)}", *([f"self-managed: {own}"] if own else [])),
        resource=f"trainyard:architectures:ClusterServices::{plan.name}-services",
    )


def _control_plane(plan: EksPlan) -> Iterator[str]:
    yield f"Kubernetes {plan.kubernetes_version}"
    access = (("public", plan.endpoint_public_access), ("private", plan.endpoint_private_access))
    yield f"{' and '.join(name for name, on in access if on)} endpoint"
    if plan.endpoint_public_access and plan.public_access_cidrs:
        yield f"open to {', '.join(plan.public_access_cidrs)}"
    yield f"authentication mode {plan.authentication_mode}"
    if plan.secrets_key_arn:
        yield "secrets encrypted with your KMS key"


def _group(group: NodeGroupPlan, plan: EksPlan) -> Box:
    return nodes_box(
        group,
        caption=f"{group.management} node group",
        resource=f"{_COMPONENTS[group.management]}::{plan.name}-{group.name}",
    )


def _file_systems(plan: EksPlan) -> Iterator[Occupant]:
    for each in plan.file_systems:
        size = [f"{each.capacity_gib} GiB"] if each.capacity_gib else []
        kind = [each.settings.deployment_type] if each.settings else []
        yield Occupant(
            box=Box(
                kind="storage",
                title=each.file_system_id or each.name,
                caption="FSx for Lustre",
                lines=(
                    *filter(None, [", ".join((*size, *kind))]),
                    f"claim {each.claim.namespace}/{each.claim.name}",
                ),
                outside=each.settings is None,
                resource=f"trainyard:storage:FsxLustre::{plan.name}-{each.name}"
                if each.settings
                else "",
            ),
            subnets=each.subnets,
            in_one=True,
        )


_CLUSTER = "trainyard:parallelcluster:SlurmCluster"
_SIZES = ("Size", "StorageCapacity")
_IDS = ("VolumeId", "FileSystemId")


def slurm_parts(config: PlacedStackConfig, plan: ParallelClusterPlan) -> Parts:
    """Return the cluster, the head node, the queues and the shared storage."""
    queues = (each for queue in plan.queues for each in _queue(queue, config))
    storage = (_storage(each, plan) for each in plan.shared_storage)
    return Parts(services=(_cluster(plan),), occupants=(_head_node(plan), *queues, *storage))


def _cluster(plan: ParallelClusterPlan) -> Box:
    monitoring = plan.monitoring
    watched = (("dashboard", monitoring.dashboard), ("alarms", monitoring.alarms))
    return Box(
        kind="control-plane",
        title=plan.name,
        caption="Slurm cluster of AWS ParallelCluster",
        lines=(
            f"ParallelCluster {plan.version}, deployed by CloudFormation",
            f"{plan.operating_system}, {plan.custom_ami_id or 'AMI of ParallelCluster'}",
            *(f"CloudWatch {name}" for name, on in watched if on),
        ),
        resource=f"{_CLUSTER}::{plan.name}",
    )


def _head_node(plan: ParallelClusterPlan) -> Occupant:
    head = plan.head_node
    box = Box(
        kind="control-plane",
        title="Head node",
        caption="Slurm controller",
        lines=(
            head.instance_type,
            f"{head.root_volume.size_gib} GiB root volume",
            "public address" if head.public else "Session Manager",
        ),
    )
    return Occupant(box=box, subnets=head.subnets, in_one=True)


def _queue(queue: QueuePlan, config: PlacedStackConfig) -> Iterator[Occupant]:
    pools = [
        (each, nodes_box(each, caption="compute resource")) for each in queue.compute_resources
    ]
    inside = [*placed(pools, config.reservations)]
    for subnets, in_one in dict.fromkeys((each.subnets, each.in_one) for each in inside):
        together = tuple(
            each.box for each in inside if (each.subnets, each.in_one) == (subnets, in_one)
        )
        box = Box(kind="queue", title=queue.name, caption="queue", rows=(BoxRow(boxes=together),))
        yield Occupant(box=box, subnets=subnets, in_one=in_one)


def _storage(storage: SharedStoragePlan, plan: ParallelClusterPlan) -> Occupant:
    settings = storage.settings
    own = next((each for each in plan.open_zfs if each.name == storage.name), None)
    existing = next((str(settings[key]) for key in _IDS if key in settings and own is None), "")
    size = next((settings[key] for key in _SIZES if key in settings), None)
    size = own.storage_capacity_gib if own else size
    box = Box(
        kind="storage",
        title=existing or storage.name,
        caption=STORAGE_TYPES[storage.type],
        lines=(*([f"{size} GiB"] if size else []), storage.mount_directory),
        outside=bool(existing),
        resource=f"trainyard:storage:OpenZfs::{plan.name}-{storage.name}" if own else "",
    )
    return Occupant(box=box, subnets=_subnets(storage, plan, existing=existing), in_one=True)


def _subnets(
    storage: SharedStoragePlan, plan: ParallelClusterPlan, *, existing: str
) -> tuple[str, ...]:
    """Return the subnets of storage; none if it is in several zones or only the account knows.

    ParallelCluster creates FSx for Lustre in the subnet of the queues, which must be the same:
    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/templates/cluster_stack.py
    """
    for own in plan.open_zfs:
        if own.name == storage.name:
            return own.subnets
    if storage.type == "Ebs":  # attached to the head node, in its zone
        return plan.head_node.subnets
    if existing or storage.type == "Efs":
        return ()
    return plan.queues[0].subnets


_PARTS: Mapping[str, Callable[[Any, Any], Parts]] = {
    "eks": eks_parts,
    "parallelcluster": slurm_parts,
    "batch": batch_parts,
    "network": lambda _config, _plan: Parts(),
}
"""By `kind` of the plan."""


_NOTHING = Parts()


def topology(
    config: AnyStackConfig,
    plan: AnyPlan,
    *,
    subnets: Mapping[str, SubnetFacts] = MappingProxyType({}),
    gone: Parts = _NOTHING,
) -> Box:
    """Return the region with what a stack has in it, and with what it uses there.

    Args:
        config: The stack file; completed from the account or not.
        plan: Its plan. The picture shows as unknown what the plan leaves to the account.
        subnets: Existing subnets as read from the account, by id.
        gone: What a preview deletes, which the plan no longer has.
    """
    parts = _PARTS[plan.kind](config, plan)
    network = _with_zones(plan.network, subnets)
    vpc = vpc_box(
        network,
        (*parts.occupants, *gone.occupants),
        name=plan.name,
        source=config.network_stack or "",
    )
    services = (*parts.services, *_monitoring(plan), *gone.services)
    return Box(
        kind="region",
        title=plan.region,
        caption="Region",
        outside=True,
        rows=(*((BoxRow(boxes=services),) if services else ()), BoxRow(boxes=(vpc,))),
    )


def _with_zones(network: NetworkPlan, known: Mapping[str, SubnetFacts]) -> NetworkPlan:
    """Return the network with the zones and address ranges of existing subnets."""

    def located(subnet: SubnetPlan) -> SubnetPlan:
        found = known.get(subnet.name)
        if found is None:
            return subnet
        return replace(subnet, availability_zone=found.availability_zone, cidr=str(found.cidr))

    return replace(
        network,
        public_subnets=tuple(map(located, network.public_subnets)),
        private_subnets=tuple(map(located, network.private_subnets)),
    )


def _monitoring(plan: AnyPlan) -> Iterator[Box]:
    monitoring = plan.monitoring_plan
    if monitoring is None:
        return
    lines = ["CloudWatch dashboard"] if monitoring.dashboard else []
    if monitoring.alarms:
        watched = monitoring.alarms
        lines.append(f"{len(watched.alarms)} alarms, {len(watched.events)} event rules")
        topic = f"existing topic {watched.topic_arn}" if watched.topic_arn else "SNS topic"
        people = f", {len(watched.emails)} e-mail addresses" if watched.emails else ""
        lines.append(f"{topic}{people}")
    yield Box(
        kind="service",
        title="Monitoring",
        caption="CloudWatch and SNS",
        lines=tuple(lines),
        resource=f"trainyard:monitoring:Monitoring::{plan.name}-monitoring",
    )
