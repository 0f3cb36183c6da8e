"""The picture of a stack as boxes, from its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from trainyard.components.account.facts import SubnetFacts
from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan
from trainyard.topology.batch_parts import batch_parts
from trainyard.topology.box import Box, Parts, Row
from trainyard.topology.eks_parts import eks_parts
from trainyard.topology.network_boxes import vpc_box
from trainyard.topology.slurm_parts import slurm_parts

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig

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
        rows=(*((Row(boxes=services),) if services else ()), Row(boxes=(vpc,))),
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
