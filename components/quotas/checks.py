"""Checks of quotas: what a stack needs, what others use, and what the account has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from trainyard.components.account.check import Check, Row, Subject, ok, refused, skipped, warning
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.account.known import Known
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.quotas import (
    OPEN_ZFS_QUOTAS,
    QUOTAS,
    REGION,
    Quota,
    VcpuQuota,
    lustre_class,
    vcpu_quota,
)
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.network import NewVpc
from trainyard.components.config.node_pool import OwnNodes
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.quotas.lookup import (
    DEFAULT_QUOTA,
    GET_DEFAULT_QUOTA,
    GET_QUOTA,
    LIST_QUOTAS,
)

if TYPE_CHECKING:
    from trainyard.components.config.stack import StackConfig


NETWORK_QUOTAS = (
    "vpcs",
    "internet-gateways",
    "nat-gateways",
    "elastic-ips",
    "gateway-endpoints",
    "interface-endpoints",
)
"""Quotas of a new VPC."""


class PlannedStack(Protocol):
    """What the plans of all architectures have."""

    @property
    def network(self) -> NetworkPlan:
        """The network."""
        ...

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """The node pools."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The amount of a quota that a stack needs, in total."""

    quota: str
    """Name in `trainyard.components.catalog.quotas`."""
    key: str
    """Key in the stack file that causes it."""
    amount: float
    """A lower bound if AWS makes more for the stack; never more than it needs."""
    scope: str = REGION
    """`REGION`, or a zone."""


def quotas_of(config: StackConfig, own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the quotas that a stack can exceed.

    Args:
        config: The stack.
        own: Those of its architecture.
    """
    found = [*own]
    if isinstance(config.network, NewVpc):
        found += NETWORK_QUOTAS
    for wanted in config.storage.values():
        if wanted.kind == "fsx-lustre":
            kind = lustre_class(wanted.deployment_type)
            found += (f"lustre-file-systems-{kind}", f"lustre-capacity-{kind}")
        elif wanted.kind == "fsx-openzfs":
            found += OPEN_ZFS_QUOTAS
        elif wanted.kind == "efs":
            found.append("efs-file-systems")
    return tuple(dict.fromkeys(found))


_IOPS_PER_GIB = 3
"""Disk IOPS that FSx provisions automatically.
https://docs.aws.amazon.com/fsx/latest/APIReference/API_DiskIopsConfiguration.html"""


def shared_needs(config: StackConfig, plan: PlannedStack) -> Iterator[Need]:
    """Yield the needs that stacks of every architecture can have."""
    yield from _network_needs(plan.network)
    yield from _storage_needs(config)
    yield from _pool_needs(plan.node_pools)


def _network_needs(network: NetworkPlan) -> Iterator[Need]:
    if not network.is_new:
        return
    # What the stack adopts counts as the use of others.
    adopted = network.adoption
    if not network.exists:
        yield Need(quota="vpcs", key="network", amount=1)
        if network.public_subnets:
            yield Need(quota="internet-gateways", key="network", amount=1)
    wanted = [network.subnet(name).availability_zone for name in network.nat_gateways]
    zones = Counter(zone for zone in wanted if f"{zone}-nat" not in adopted.parts)
    for zone, count in zones.items():
        if zone is not None:
            key = "network.nat_gateways"
            yield Need(quota="nat-gateways", key=key, amount=count, scope=zone)
    endpoints = len(network.gateway_endpoints) - len(adopted.endpoints)
    amounts = {
        "elastic-ips": ("network.nat_gateways", zones.total()),
        "gateway-endpoints": ("network.gateway_endpoints", endpoints),
        "interface-endpoints": ("network.interface_endpoints", len(network.interface_endpoints)),
    }
    for quota, (key, amount) in amounts.items():
        if amount:
            yield Need(quota=quota, key=key, amount=amount)


def _storage_needs(config: StackConfig) -> Iterator[Need]:
    needs: Counter[str] = Counter()
    for wanted in config.storage.values():
        if wanted.kind == "fsx-lustre":
            kind = lustre_class(wanted.deployment_type)
            needs[f"lustre-file-systems-{kind}"] += 1
            needs[f"lustre-capacity-{kind}"] += wanted.storage_capacity_gib
        elif wanted.kind == "fsx-openzfs":
            capacity = wanted.storage_capacity_gib
            amounts = (1, capacity, wanted.throughput_capacity_mbps, capacity * _IOPS_PER_GIB)
            needs.update(dict(zip(OPEN_ZFS_QUOTAS, amounts, strict=True)))
        elif wanted.kind == "efs":
            needs["efs-file-systems"] += 1
    for quota, amount in needs.items():
        yield Need(quota=quota, key="storage", amount=amount)


def _pool_needs(pools: tuple[NodePoolPlan, ...]) -> Iterator[Need]:
    key = "architecture"
    if pools:
        yield Need(quota="launch-templates", key=key, amount=len(pools))
    created = sum(pool.placement.group == "create" for pool in pools)
    if created:
        yield Need(quota="placement-groups", key=key, amount=created)
    volumes = sum(pool.nodes * pool.root_volume.size_gib for pool in pools if pool.root_volume)
    if volumes:
        yield Need(quota="gp3-storage", key=key, amount=volumes / 1024)


ASKED = "the quotas cover what the stack makes"


def quota_check(needs: Sequence[Need], facts: AccountFacts, region: str) -> Check:
    """Return the check of all quotas; each that `up` would exceed is a problem.

    What the stack has already is part of the need and not of the use, so that an update of a stack
    that exists needs nothing more.
    """
    problems = (_problem(need, QUOTAS[need.quota], facts, region) for need in needs)
    found = [each for each in problems if each is not None]
    return Check("quotas", found, [_subject(needs, facts)])


def quota_warnings(needs: Iterable[Need], facts: AccountFacts, region: str) -> Iterator[str]:
    """Yield the quotas that the stack may exceed, where the count is an estimate."""
    for need in needs:
        quota = QUOTAS[need.quota]
        if not quota.refused and _exceeds(need, facts):
            yield (
                f"{need.key}: {_found(need, facts)}; the quota `{quota.title}` is "
                f"{_value(need, facts):g}, and AWS refuses what exceeds it"
                f"{_error(quota)}, unless the stack already has its share; request more with "
                f"`{quota.increase_command(_whole(_total(need, facts)), region)}`"
            )


def _problem(need: Need, quota: Quota, facts: AccountFacts, region: str) -> Problem | None:
    if not quota.refused or not _exceeds(need, facts):
        return None
    less = f"delete {quota.noun} that nothing uses, or use another region or account"
    command = quota.increase_command(_whole(_total(need, facts)), region)
    return Problem(
        path=f"{ROOT}.{need.key}",
        found=_found(need, facts),
        problem=(
            f"AWS refuses what exceeds the quota `{quota.title}`{_error(quota)}, after other "
            "resources of the stack have been made"
        ),
        allowed=f"{_value(need, facts):g} {quota.noun}{_where(need)}",
        remedy=(
            f"request more (`{command}`), or {less}"
            if quota.adjustable
            else f"AWS does not raise this quota: {less}"
        ),
    )


def _subject(needs: Sequence[Need], facts: AccountFacts) -> Subject:
    quotas = [QUOTAS[need.quota] for need in needs]
    calls = {each.call for each in quotas if each.call is not None}
    calls |= {LIST_QUOTAS, DEFAULT_QUOTA} if quotas else set[str]()
    known = [need for need in needs if _value(need, facts)]
    if not known:
        return Subject("architecture", ASKED, calls=tuple(sorted(calls)))
    nearest = max(known, key=lambda need: _total(need, facts) / (_value(need, facts) or 1))
    found = (
        f"{len(known)} quotas; the nearest: {_found(nearest, facts)}, of {_value(nearest, facts):g}"
    )
    return Subject("architecture", ASKED, found, tuple(sorted(calls)))


def _error(quota: Quota) -> str:
    return f" with {quota.error}" if quota.error else ""


def _where(need: Need) -> str:
    return f" in {need.scope}" if need.scope else ""


def _found(need: Need, facts: AccountFacts) -> str:
    used, noun = _used(need, facts), QUOTAS[need.quota].noun
    return f"{need.amount:.4g} {noun} for this stack, {used:.4g} others exist"


def _used(need: Need, facts: AccountFacts) -> float:
    return facts.quota_use.get(need.quota, {}).get(need.scope, 0)


def _exceeds(need: Need, facts: AccountFacts) -> bool:
    value = _value(need, facts)
    if value is None or need.quota not in facts.quota_use:
        return False
    return _total(need, facts) > value


def _value(need: Need, facts: AccountFacts) -> float | None:
    value = facts.quota_values.get(need.quota)
    other = QUOTAS[need.quota].at_least
    return None if value is None else max(value, facts.quota_values.get(other or "", 0))


def _total(need: Need, facts: AccountFacts) -> float:
    return need.amount + _used(need, facts)


def _whole(amount: float) -> int:
    return -int(-amount // 1)


QUOTA = "the vCPU quota is sufficient for the nodes"


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


def live_vcpu_rows(known: Known[Any, Any]) -> Iterator[Row]:
    """Yield rows on the vCPU quotas of the planned nodes."""
    own = known.config.architecture.own_nodes()
    yield from quota_rows(known.plan.node_pools, own, known.more)
