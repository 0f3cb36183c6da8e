"""Rows for instance types and vCPU quotas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.components.account.preflight_facts import PreflightFacts, TypeFacts
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.vcpu_quotas import VcpuQuota, vcpu_quota
from trainyard.components.checks.row import Row, ok, refused, skipped, warning
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.pools import OwnNodes
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.preflight.readings import DESCRIBE_TYPES, GET_DEFAULT_QUOTA, GET_QUOTA

TYPE = "the catalog matches the instance type in EC2"
MARKET = "EC2 offers the purchase option for the instance type"
QUOTA = "the vCPU quota is sufficient for the nodes"


def type_rows(launches: Sequence[NodePoolPlan], more: PreflightFacts) -> Iterator[Row]:
    """Yield rows that compare the catalog with EC2 for the instance types of the nodes."""
    for launch in launches:
        if launch.key == "architecture.system_node_group":
            continue
        reason = more.why_not(DESCRIBE_TYPES)
        facts = more.instance_types.get(launch.instance_type.name)
        if reason is not None:
            yield skipped(launch.key, TYPE, reason)
        elif facts is not None:
            yield _agreement(launch, facts)
            yield from _market(launch, facts)


def _agreement(launch: NodePoolPlan, facts: TypeFacts) -> Row:
    ours = launch.instance_type
    found = (
        f"{ours.name}: {facts.efa_interfaces} EFA interfaces on {facts.network_cards} cards"
        if facts.efa_interfaces
        else f"{ours.name}: no EFA"
    )
    if launch.interfaces is not None and facts.efa_interfaces < launch.interfaces.efa_interfaces:
        return refused(
            TYPE,
            Problem(
                path=f"{ROOT}.{launch.key}.instance_type",
                found=found,
                problem=(
                    f"the nodes would request {launch.interfaces.efa_interfaces} EFA interfaces, "
                    "more than the instance type supports"
                ),
                allowed=f"at most {facts.efa_interfaces}",
                remedy="set efa_enabled to false, or use another instance type",
            ),
        )
    if launch.placement.group != "none" and "cluster" not in facts.placement_strategies:
        return refused(
            TYPE,
            Problem(
                path=f"{ROOT}.{launch.key}.placement",
                found=f"{ours.name}: {', '.join(sorted(facts.placement_strategies)) or 'none'}",
                problem="EC2 does not support this type in a cluster placement group",
                remedy="set placement.group to none, or use another instance type",
            ),
        )
    if (facts.efa_interfaces, facts.network_cards) != (
        ours.efa_interfaces,
        len(ours.network_cards),
    ):
        return warning(
            launch.key,
            TYPE,
            f"{found}; the catalog says {ours.efa_interfaces} on {len(ours.network_cards)}: run "
            "`python -m tools.catalog.compare`",
        )
    return ok(launch.key, TYPE, found)


def _market(launch: NodePoolPlan, facts: TypeFacts) -> Iterator[Row]:
    market = launch.capacity.market_type or "on-demand"
    if not facts.usage_classes or market in facts.usage_classes:
        return
    yield refused(
        MARKET,
        Problem(
            path=f"{ROOT}.{launch.key}.purchase_option",
            found=launch.capacity.purchase_option,
            problem=f"EC2 does not offer {launch.instance_type.name} as {market} in this region",
            allowed=", ".join(sorted(facts.usage_classes)),
            remedy="use one of these purchase options, or another instance type",
        ),
    )


class _User(NamedTuple):
    """Nodes that count towards a quota."""

    key: str
    wanted_vcpus: int
    most_vcpus: int


def quota_rows(
    launches: Sequence[NodePoolPlan], own: Sequence[OwnNodes], more: PreflightFacts
) -> Iterator[Row]:
    """Yield rows on whether vCPU quotas are large enough for nodes and created reservations.

    A reservation counts from its creation, so nodes in one are not counted again.
    Other instances in the account are not counted. A quota that is too small for the nodes that the
    stack always launches is refused; one that is too small only for the maximum number of nodes is
    a warning.

    Args:
        launches: The planned node pools.
        own: Nodes besides the pools. Those that are not a planned pool, such as the head node, are
            one On-Demand Instance.
        more: The quotas.
    """
    users: dict[VcpuQuota, list[_User]] = defaultdict(list)
    planned = {launch.key for launch in launches}
    for nodes in own:
        found = INSTANCE_TYPES.get(nodes.instance_type)
        quota = vcpu_quota(found.family, "on-demand") if found else None
        if found is not None and quota is not None and nodes.key not in planned:
            users[quota].append(_User(nodes.key, found.vcpus, found.vcpus))
    for quota, user in _created(launches).values():
        users[quota].append(user)
    for launch in launches:
        kind = launch.capacity.kind
        if kind == "on-demand" or kind == "spot":
            quota, vcpus = vcpu_quota(launch.instance_type.family, kind), launch.instance_type.vcpus
            if quota is not None:
                user = _User(launch.key, launch.nodes * vcpus, launch.most_nodes * vcpus)
                users[quota].append(user)
    for quota, launched in users.items():
        yield _quota_row(quota, launched, more)


def _created(launches: Sequence[NodePoolPlan]) -> dict[str, tuple[VcpuQuota, _User]]:
    """Return the reservations that the stack creates, by entry; pools can share one."""
    found: dict[str, tuple[VcpuQuota, _User]] = {}
    for launch in launches:
        creation, option = launch.capacity.creation, launch.capacity.purchase_option
        quota = vcpu_quota(launch.instance_type.family, "on-demand")
        if creation is not None and quota is not None:
            vcpus = creation.instance_count * launch.instance_type.vcpus
            key = f"reservations.{option}.instance_count"
            found[option] = (quota, _User(key, vcpus, vcpus))
    return found


def _quota_row(quota: VcpuQuota, launched: list[_User], more: PreflightFacts) -> Row:
    key = launched[-1].key
    reason = more.why_not(GET_QUOTA, GET_DEFAULT_QUOTA)
    held = more.quotas_vcpus.get(quota.code)
    if held is None:
        return skipped(key, QUOTA, reason or f"{quota.name} ({quota.code}): the value is unknown")
    wanted = sum(each.wanted_vcpus for each in launched)
    most = sum(each.most_vcpus for each in launched)
    found = f"{quota.name}: {held:g} vCPUs, {most} needed by this stack"
    if most <= held:
        return ok(key, QUOTA, found)
    if wanted <= held:
        largest = f"{found} at its maximum size; EC2 rejects nodes for jobs beyond the quota"
        return warning(key, QUOTA, largest)
    return refused(
        QUOTA,
        Problem(
            path=f"{ROOT}.{key}",
            found=found,
            problem="EC2 rejects nodes beyond the quota with VcpuLimitExceeded",
            allowed=f"{held:g} vCPUs, shared by {', '.join(each.key for each in launched)}",
            remedy=(
                "request an increase (`aws service-quotas request-service-quota-increase "
                f"--service-code ec2 --quota-code {quota.code} --desired-value {most}`), or use "
                "fewer nodes"
            ),
        ),
    )
