"""Advice for a pool whose nodes EC2 does not launch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainyard.components.account.facts import LATER
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.vcpu_quotas import vcpu_quota
from trainyard.diagnosis.reservation_use import ReservationUse

if TYPE_CHECKING:
    from trainyard.components.config.node_pool import Pool
    from trainyard.engine.engine_events import EngineError

_SLURM_POOL = re.compile(r"queue (?P<queue>[a-z0-9-]+), compute resource (?P<name>[a-z0-9-]+)")
"""Pattern of pool names in messages of the stack's ParallelCluster components."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedPool:
    """A pool of nodes in the stack file, with its capacity in the account."""

    described: str
    """Text for messages: `node group p5`."""
    key: str
    """Path in the stack file, relative to `trainyard:cluster`."""
    instance_type: str
    purchase_option: str
    nodes: int
    """Maximum number of nodes."""
    launch_key: str
    """Key that holds its zone."""
    reservations: tuple[ReservationUse, ...]


def pool_of(error: EngineError, pools: Sequence[Pool], *, cluster: str) -> Pool | None:
    """Return the pool that an error concerns, by resource name or message.

    Names of a pool's resources contain the names of the cluster and the pool. If there is only one
    pool, an error of a resource without a pool name concerns it if the message has its instance
    type.
    """
    said = _SLURM_POOL.search(error.message)
    if said:
        name = f"{said['queue']}/{said['name']}"
        return next((pool for pool in pools if pool.name == name), None)
    name = f"{error.resource_name}-"
    fitting = [pool for pool in pools if name.startswith(f"{cluster}-{pool.name}-")]
    if fitting:
        return max(fitting, key=lambda pool: len(pool.name))
    named = [pool for pool in pools if pool.instance_type in error.message]
    return named[0] if len(named) == 1 else None


def capacity_advice(pool: FailedPool) -> list[str]:
    """Return why there is no capacity for a pool, and how to get some."""
    if not pool.reservations:
        return _without_reservation(pool)
    found: list[str] = []
    for each in pool.reservations:
        found.append(f"{pool.described}: reservation {pool.purchase_option}: {each.described()}")
        found.append(_remedy(pool, each))
    return list(dict.fromkeys(found))


def _without_reservation(pool: FailedPool) -> list[str]:
    if pool.purchase_option not in ("on-demand", "spot"):
        return [
            f"{pool.described}: reservation {pool.purchase_option} had no capacity for its nodes"
        ]
    return [
        (
            f"{pool.described}: AWS currently has no {pool.instance_type} ({pool.purchase_option}) "
            "available in this zone"
        ),
        (
            f"try again later, use another zone (availability_zone of {pool.launch_key}), or "
            "reserve capacity with `aws ec2 create-capacity-reservation` and set "
            "`purchase_option` to the reservation"
        ),
    ]


def _remedy(pool: FailedPool, use: ReservationUse) -> str:
    place = f"reservations.{pool.purchase_option}"
    if use.state in LATER:
        return "its nodes launch automatically when it is active"
    if use.state != "active":
        return f"use another one in {place}; `check --live` shows whether it fits"
    if use.available < 1:
        return (
            f"terminate other instances in it, reduce the nodes of {pool.key}, or use another one "
            f"in {place}"
        )
    return (
        "it has capacity: instances in a placement group other than that of the reservation also "
        f"get this error; compare `placement_group` and `provenance` of {place}"
    )


def quota_advice(pool: FailedPool, *, region: str) -> list[str]:
    """Return the EC2 quota to increase for a pool, with the command."""
    known = INSTANCE_TYPES.get(pool.instance_type)
    family = pool.instance_type.partition(".")[0]
    quota = vcpu_quota(family, "spot" if pool.purchase_option == "spot" else "on-demand")
    if known is None or quota is None:
        return [f"{pool.described}: an EC2 quota for {pool.instance_type} is reached"]
    vcpus = pool.nodes * known.vcpus
    return [
        (
            f"{pool.described}: the quota {quota.name} is too small for its {pool.nodes} nodes, "
            f"{vcpus} vCPUs, in addition to running instances"
        ),
        (
            "request an increase: aws service-quotas request-service-quota-increase --region "
            f"{region} --service-code ec2 --quota-code {quota.code} --desired-value {vcpus}    # "
            "plus the vCPUs of other instances"
        ),
    ]
