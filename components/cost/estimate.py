"""What a planned stack costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from trainyard.components.catalog.prices import HOURS_PER_MONTH, Price
from trainyard.components.catalog.versions import standard_support_ended
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.fsx_lustre import NewFsxLustre
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.storage import (
    IOPS,
    FileSystem,
    NewEfs,
    NewFsxOpenZfs,
    NewSharedEbs,
)
from trainyard.components.cost.item import BlockCost, CostItem, Group, Prices, by_use

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.batch.plan import BatchPlan
    from trainyard.components.eks.plan import EksPlan
    from trainyard.components.monitoring.plan import MonitoringPlan
    from trainyard.components.network.network_plan import NetworkPlan
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan


# Charges for volumes and file systems.
#
# Sources:
#     https://aws.amazon.com/ebs/pricing/
#     https://aws.amazon.com/fsx/lustre/pricing/
#     https://aws.amazon.com/fsx/openzfs/pricing/
#     https://aws.amazon.com/efs/pricing/


GP3_IOPS = 3000
"""IOPS that the price of a gp3 volume includes."""
GP3_THROUGHPUT_MIBPS = 125
"""Throughput that the price of a gp3 volume includes, in MiB/s."""
IO2_TIER_IOPS = 32000
"""IOPS of an io2 volume above which they have other prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """The size and the performance of an EBS volume."""

    volume_type: str
    size_gib: int
    iops: int
    """0 for a type without provisioned IOPS."""
    throughput_mibps: int = 0


def volume_items(
    noun: str,
    resource: str,
    volume: Volume,
    *,
    group: Group = "storage",
    count: int = 1,
    most: int = 0,
    in_block: bool = False,
) -> Iterator[CostItem]:
    """Yield the charges of some volumes of one kind.

    Args:
        noun: What they are, such as `root volumes`.
        resource: Their key in the stack file.
        volume: Size and performance of each.
        group: Where they are listed.
        count: Volumes that always exist.
        most: Volumes when jobs have launched all nodes.
        in_block: Whether they are deleted at the end of a Capacity Block.
    """
    kind = volume.volume_type
    paid_iops = {"gp3": volume.iops - GP3_IOPS}.get(kind, volume.iops)
    iops_key = "io2-iops-tiers" if kind == "io2" and paid_iops > IO2_TIER_IOPS else f"{kind}-iops"
    throughput = volume.throughput_mibps - GP3_THROUGHPUT_MIBPS if kind == "gp3" else 0
    for each, size, key, unit in (
        (f"{noun}, {volume.size_gib} GiB {kind}", volume.size_gib, kind, "GiB"),
        (f"{noun}, {volume.iops} IOPS", paid_iops, iops_key, "IOPS"),
        (f"{noun}, {volume.throughput_mibps} MiB/s", throughput, f"{kind}-throughput", "MiB/s"),
    ):
        if size > 0:
            yield CostItem(
                group=group,
                what=each,
                resource=resource,
                key=f"ebs:{key}",
                unit=unit,
                period="month",
                quantity=count * size,
                most=most * size,
                in_block=in_block,
            )


def file_system_items(name: str, wanted: FileSystem) -> Iterator[CostItem]:
    """Yield the charges of an entry of `storage`; none for a file system that already exists."""
    resource = f"storage.{name}"
    if isinstance(wanted, NewFsxLustre):
        yield from _lustre(resource, wanted)
    elif isinstance(wanted, NewEfs):
        yield from _efs(resource, wanted)
    elif isinstance(wanted, NewFsxOpenZfs):
        yield from _open_zfs(resource, wanted)
    elif isinstance(wanted, NewSharedEbs):
        rule = IOPS.get(wanted.volume_type)
        volume = Volume(
            volume_type=wanted.volume_type,
            size_gib=wanted.size_gib,
            iops=wanted.iops or (rule.default if rule else 0),
            throughput_mibps=wanted.throughput_mibps or 0,
        )
        count = wanted.raid.number_of_volumes if wanted.raid else 1
        yield from volume_items("shared volume", resource, volume, count=count)


def _lustre(resource: str, wanted: NewFsxLustre) -> Iterator[CostItem]:
    parts = [wanted.deployment_type]
    if wanted.storage_type == "HDD":
        cached = wanted.drive_cache == "READ"
        parts += ["HDD-cached" if cached else "HDD"]
    if wanted.per_unit_storage_throughput is not None:
        parts.append(str(wanted.per_unit_storage_throughput))
    yield CostItem(
        group="storage",
        what=f"FSx for Lustre, {wanted.storage_capacity_gib} GiB {' '.join(parts)}",
        resource=resource,
        key=f"fsx-lustre:{':'.join(parts)}",
        unit="GiB",
        period="month",
        quantity=wanted.storage_capacity_gib,
    )
    if wanted.metadata_iops is not None:
        yield CostItem(
            group="storage",
            what="metadata IOPS above those that the capacity includes",
            resource=f"{resource}.metadata_iops",
            key="fsx-lustre:metadata-iops",
            unit="IOPS",
            period="month",
            quantity=wanted.metadata_iops,
        )
    if wanted.backup_retention_days:
        yield by_use(
            "storage", "backups", f"{resource}.backup_retention_days", "fsx-lustre:backups", "GB"
        )


def _efs(resource: str, wanted: NewEfs) -> Iterator[CostItem]:
    yield by_use("storage", "EFS, stored data", resource, "efs:storage", "GB and month")
    if wanted.provisioned_throughput_mibps is not None:
        yield CostItem(
            group="storage",
            what=f"EFS, {wanted.provisioned_throughput_mibps} MiB/s provisioned",
            resource=f"{resource}.provisioned_throughput_mibps",
            key="efs:provisioned-throughput",
            unit="MiB/s",
            period="month",
            quantity=wanted.provisioned_throughput_mibps,
        )


def _open_zfs(resource: str, wanted: NewFsxOpenZfs) -> Iterator[CostItem]:
    key = f"fsx-openzfs:{wanted.deployment_type}"
    for what, unit, price_key, quantity in (
        (f"{wanted.storage_capacity_gib} GiB SSD", "GiB", key, wanted.storage_capacity_gib),
        (
            f"{wanted.throughput_capacity_mbps} MB/s",
            "MB/s",
            f"{key}:throughput",
            wanted.throughput_capacity_mbps,
        ),
    ):
        yield CostItem(
            group="storage",
            what=f"FSx for OpenZFS {wanted.deployment_type}, {what}",
            resource=resource,
            key=price_key,
            unit=unit,
            period="month",
            quantity=quantity,
        )
    if wanted.backup_retention_days:
        yield by_use(
            "storage", "backups", f"{resource}.backup_retention_days", "fsx-openzfs:backups", "GB"
        )


# Charges for nodes: instances, reservations and root volumes.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-pricing-billing.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-pricing-billing.html


def node_items(config: StackConfig, plan: AnyPlan) -> Iterator[CostItem]:
    """Yield the charges of the node pools of a plan, without the fees of Capacity Blocks."""
    for pool in plan.node_pools:
        kind = pool.capacity.kind
        if kind in ("on-demand", "spot"):
            yield _instances(pool)
        yield from _root_volumes(pool)
    for name, pools in _reserved(plan).items():
        if pools[0].capacity.kind != "capacity-block":
            yield _reservation(config, name, pools)


def _instances(pool: NodePoolPlan) -> CostItem:
    name = pool.instance_type.name
    spot = pool.capacity.kind == "spot"
    return CostItem(
        group="nodes",
        what=f"{name}, {'Spot' if spot else 'on demand'}",
        resource=pool.key,
        # Spot prices change all the time, so there is no list price.
        key=f"spot:{name}" if spot else f"ec2:{name}",
        unit="node",
        period="hour",
        quantity=pool.nodes,
        most=pool.most_nodes,
    )


def _root_volumes(pool: NodePoolPlan) -> Iterator[CostItem]:
    volume = pool.root_volume
    if volume is None:
        return
    yield from volume_items(
        "root volumes",
        f"{pool.key}.root_volume",
        Volume(
            volume_type=volume.volume_type,
            size_gib=volume.size_gib,
            iops=volume.iops,
            throughput_mibps=volume.throughput_mibps,
        ),
        group="nodes",
        count=pool.nodes,
        most=pool.most_nodes,
        in_block=pool.capacity.kind == "capacity-block",
    )


def _reserved(plan: AnyPlan) -> dict[str, list[NodePoolPlan]]:
    """Return the node pools of each reservation, by its name in the stack file."""
    found: dict[str, list[NodePoolPlan]] = {}
    for pool in plan.node_pools:
        if pool.capacity.is_reserved:
            found.setdefault(pool.capacity.purchase_option, []).append(pool)
    return found


def _reservation(config: StackConfig, name: str, pools: Sequence[NodePoolPlan]) -> CostItem:
    """Return the charge for an ODCR: all its instances, at the On-Demand price."""
    instance_type = pools[0].instance_type.name
    wanted = sum(pool.most_nodes for pool in pools)
    return CostItem(
        group="nodes",
        what=f"{instance_type}, reserved (ODCR), paid whether used or not",
        resource=f"reservations.{name}",
        key=f"ec2:{instance_type}",
        unit="node",
        period="hour",
        quantity=config.reservations[name].instance_count or wanted,
        whether_used=True,
    )


def block_costs(config: StackConfig, plan: AnyPlan) -> Iterator[BlockCost]:
    """Yield the fees of the Capacity Blocks that nodes of a plan launch into."""
    for name, pools in _reserved(plan).items():
        block = config.reservations[name]
        if not isinstance(block, CapacityBlock):
            continue
        count = block.instance_count or sum(pool.most_nodes for pool in pools)
        yield BlockCost(
            resource=f"reservations.{name}",
            reservation_id=block.reservation_id,
            nodes=f"{count} x {pools[0].instance_type.name}",
            fee_usd=block.upfront_fee_usd,
            starts_at=block.starts_at,
            ends_at=block.ends_at,
        )


# Charges for control plane, head node, network and monitoring.
#
# Sources:
#     https://aws.amazon.com/eks/pricing/
#     https://aws.amazon.com/vpc/pricing/
#     https://aws.amazon.com/privatelink/pricing/
#     https://aws.amazon.com/cloudwatch/pricing/
#     https://aws.amazon.com/prometheus/pricing/
#     https://aws.amazon.com/ecr/pricing/


_CONTAINER_INSIGHTS = "amazon-cloudwatch-observability"


def service_items(plan: AnyPlan, today: date) -> Iterator[CostItem]:
    """Yield the charges of a plan for everything but node pools and file systems."""
    if plan.kind == "eks":
        yield from _eks(plan, today)
    elif plan.kind == "parallelcluster":
        yield from _parallelcluster(plan)
    elif plan.kind == "batch":
        yield from _batch(plan)
    yield from _network(plan.network)
    if plan.monitoring_plan is not None:
        yield from _monitoring(plan.monitoring_plan)


def _eks(plan: EksPlan, today: date) -> Iterator[CostItem]:
    version = "architecture.kubernetes_version"
    yield _hourly("control plane", "EKS control plane", "architecture", "eks:cluster", "cluster")
    if standard_support_ended(plan.kubernetes_version, today):
        what = f"extended support of Kubernetes {plan.kubernetes_version}"
        yield _hourly("control plane", what, version, "eks:extended-support", "cluster")
    if plan.log_types:
        yield _logs("control plane logs", "architecture.log_types")
    if plan.scraper is not None and plan.monitoring_plan is not None:
        yield _node_metrics(plan.monitoring_plan)
    if any(addon.name == _CONTAINER_INSIGHTS for addon in plan.addons):
        yield by_use(
            "monitoring",
            "metrics and logs of Container Insights",
            "architecture.addons.cloudwatch_observability",
            "cloudwatch:observations",
            "observation",
        )


def _parallelcluster(plan: ParallelClusterPlan) -> Iterator[CostItem]:
    head, key = plan.head_node, "architecture.head_node"
    what = f"head node, {head.instance_type}"
    yield _hourly("control plane", what, key, f"ec2:{head.instance_type}", "node")
    yield from volume_items(
        "root volume of the head node",
        f"{key}.root_volume",
        _root_volume(head.root_volume),
        group="control plane",
    )
    if head.public:
        yield _hourly("network", "public address", key, "vpc:public-ipv4", "address")
    for queue in plan.queues:
        yield from volume_items(
            "root volumes",
            f"architecture.queues.{queue.name}.root_volume",
            _root_volume(queue.config.root_volume),
            group="nodes",
            count=sum(each.nodes for each in queue.compute_resources),
            most=sum(each.most_nodes for each in queue.compute_resources),
            in_block=queue.capacity.kind == "capacity-block",
        )
    if plan.monitoring.dashboard:
        yield _dashboard("architecture.monitoring.dashboard")
    if plan.monitoring.logs:
        yield _logs("logs of the nodes", "architecture.monitoring.logs")
    if plan.monitoring_plan is not None and plan.monitoring_plan.agents:
        yield _node_metrics(plan.monitoring_plan)


def _root_volume(wanted: RootVolume) -> Volume:
    return Volume(
        volume_type="gp3",
        size_gib=wanted.size_gib,
        iops=wanted.iops,
        throughput_mibps=wanted.throughput_mibps,
    )


def _batch(plan: BatchPlan) -> Iterator[CostItem]:
    yield _logs("logs of jobs", "architecture.job_definitions")
    if plan.repository is not None:
        key = "architecture.container_repository"
        yield by_use("monitoring", "images in the repository", key, "ecr:storage", "GB and month")
    measured = any(environment.agent_script for environment in plan.compute_environments)
    if plan.monitoring_plan is not None and measured:
        yield _node_metrics(plan.monitoring_plan)


def _network(network: NetworkPlan) -> Iterator[CostItem]:
    """Yield the charges of a new VPC; an existing one is not part of the stack."""
    if not network.is_new:
        return
    gateways, endpoints = len(network.nat_gateways), len(network.interface_endpoints)
    if gateways:
        key = "network.nat_gateways"
        yield _hourly("network", "NAT gateway", key, "vpc:nat-gateway", "gateway", gateways)
        yield _hourly(
            "network",
            "public address of the NAT gateway",
            key,
            "vpc:public-ipv4",
            "address",
            gateways,
        )
        yield by_use("network", "data through the NAT gateway", key, "vpc:nat-gateway-data", "GB")
    if endpoints:
        key, zones = "network.interface_endpoints", len(network.private_subnets)
        what = f"{endpoints} interface endpoints in {zones} zones"
        count = endpoints * zones
        yield _hourly("network", what, key, "vpc:interface-endpoint", "endpoint", count)
        data = "vpc:interface-endpoint-data"
        yield by_use("network", "data through the endpoints", key, data, "GB")
    if network.flow_logs:
        yield _logs("flow logs", "network.flow_logs")


def _monitoring(plan: MonitoringPlan) -> Iterator[CostItem]:
    if plan.dashboard:
        yield _dashboard("monitoring.dashboard")
    if plan.alarms is not None and plan.alarms.alarms:
        yield CostItem(
            group="monitoring",
            what="alarms",
            resource="monitoring.alarms",
            key="cloudwatch:alarm",
            unit="alarm",
            period="month",
            quantity=len(plan.alarms.alarms),
        )


def _dashboard(resource: str) -> CostItem:
    return CostItem(
        group="monitoring",
        what="dashboard",
        resource=resource,
        key="cloudwatch:dashboard",
        unit="dashboard",
        period="month",
        quantity=1,
    )


def _node_metrics(plan: MonitoringPlan) -> CostItem:
    """Return the metrics of nodes, whose number follows from the running ones."""
    prometheus = plan.node_metrics == "prometheus"
    return by_use(
        "monitoring",
        "metrics of the nodes",
        "monitoring.node_metrics",
        "prometheus:samples" if prometheus else "cloudwatch:custom-metrics",
        "sample" if prometheus else "metric and month",
    )


def _logs(what: str, resource: str) -> CostItem:
    return by_use("monitoring", what, resource, "cloudwatch:logs", "GB")


def _hourly(
    group: Group, what: str, resource: str, key: str, unit: str, quantity: int = 1
) -> CostItem:
    return CostItem(
        group=group,
        what=what,
        resource=resource,
        key=key,
        unit=unit,
        period="hour",
        quantity=quantity,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The charges of a stack, at list prices."""

    region: str
    items: tuple[CostItem, ...]
    blocks: tuple[BlockCost, ...]
    """Fees that are paid in advance, and not part of the sums."""

    @property
    def hourly_usd(self) -> float:
        """Sum of all known charges for what is always there, for an hour."""
        return _sum(self.items)

    @property
    def monthly_usd(self) -> float:
        """The same for a month."""
        return self.hourly_usd * HOURS_PER_MONTH

    @property
    def most_hourly_usd(self) -> float:
        """The same when jobs have launched all nodes."""
        return sum(each.most_hourly_usd for each in self.items)

    @property
    def stack_hourly_usd(self) -> float:
        """The most that an hour of the stack costs beyond what its owner pays without it.

        ODCRs are paid whether the stack exists or not.
        """
        return sum(each.most_hourly_usd for each in self.items if not each.whether_used)

    @property
    def hourly_usd_after_blocks(self) -> float:
        """Sum for an hour when the Capacity Blocks are over and the stack stays."""
        return _sum(each for each in self.items if not each.in_block)

    @property
    def unknown(self) -> tuple[CostItem, ...]:
        """Charges that are in no sum, because their price is not known."""
        return tuple(each for each in self.items if each.is_unknown)

    @property
    def by_use(self) -> tuple[CostItem, ...]:
        """Charges that are in no sum, because they depend on use."""
        return tuple(each for each in self.items if each.period == "use")

    def stale(self, today: date) -> tuple[Price, ...]:
        """Return the prices of sums that are older than 90 days, one for each source."""
        found = {
            each.price.source: each.price
            for each in self.items
            if each.price is not None and each.period != "use" and each.price.is_stale(today)
        }
        return tuple(sorted(found.values(), key=lambda price: (price.day, price.source)))

    @property
    def oldest(self) -> date | None:
        """Day of the oldest price in the sums."""
        days = [each.price.day for each in self.items if each.price and each.period != "use"]
        return min(days, default=None)


def estimate(config: StackConfig, plan: AnyPlan, prices: Prices, now: datetime) -> Estimate:
    """Return what a plan costs.

    Args:
        config: The stack, completed with the times of its Capacity Blocks if they are known.
        plan: Its plan.
        prices: Prices of its region. What they lack is unknown.
        now: The time, for the support of the Kubernetes version.
    """
    items = [*service_items(plan, now.date()), *node_items(config, plan)]
    for name, wanted in config.storage.items():
        items += file_system_items(name, wanted)
    order = ("nodes", "control plane", "network", "storage", "monitoring")
    items.sort(key=lambda each: order.index(each.group))
    return Estimate(
        region=plan.region,
        items=tuple(replace(each, price=prices.get(each.key)) for each in items),
        blocks=tuple(block_costs(config, plan)),
    )


def _sum(items: Iterable[CostItem]) -> float:
    return sum(each.hourly_usd for each in items)
