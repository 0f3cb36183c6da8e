"""Charges for control plane, head node, network and monitoring.

Sources:
    https://aws.amazon.com/eks/pricing/
    https://aws.amazon.com/vpc/pricing/
    https://aws.amazon.com/privatelink/pricing/
    https://aws.amazon.com/cloudwatch/pricing/
    https://aws.amazon.com/prometheus/pricing/
    https://aws.amazon.com/ecr/pricing/
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

from trainyard.components.catalog.versions import standard_support_ended
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.cost.item import CostItem, Group, by_use
from trainyard.components.cost.storage_items import Volume, volume_items

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.batch.plan import BatchPlan
    from trainyard.components.eks.plan import EksPlan
    from trainyard.components.monitoring.plan import MonitoringPlan
    from trainyard.components.network.network_plan import NetworkPlan
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan

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
