"""Checks that quotas of the account cover what a stack makes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.quota_use import DEFAULT_QUOTA, LIST_QUOTAS
from trainyard.components.catalog.quotas import OPEN_ZFS_QUOTAS, QUOTAS, REGION, Quota, lustre_class
from trainyard.components.checks.check import Check, Subject
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.network.network_plan import NetworkPlan

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
