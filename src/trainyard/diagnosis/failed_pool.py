"""Advice for a pool whose nodes EC2 does not launch, or that do not join their cluster."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.components.capacity.facts import LATER, Holders, why_not_active
from trainyard.components.capacity.lookup import holder_filters, holders_of
from trainyard.components.capacity.reservations import held_text
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.quotas import vcpu_quota
from trainyard.workspace.target import Account

if TYPE_CHECKING:
    from trainyard.components.config.node_pool import Pool
    from trainyard.engine.engine_events import EngineError


# Why a running instance does not join its cluster, most likely cause first.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html, "Nodes fail to join
#         cluster", which has the same order
#     https://docs.aws.amazon.com/systems-manager-automation-runbooks/latest/userguide/automation-awssupport-troubleshooteksworkernode.html
#     https://github.com/awslabs/amazon-eks-ami, `nodeadm-config.service` and
#     `nodeadm-run.service`


LOOK_AT_SANDBOX = "see: daemon.log in the directory that `./trainyard sandbox status` shows"


def causes(*, role_arn: str, let_in: bool | None, managed: bool) -> list[str]:
    """Return the numbered causes, most likely first.

    Args:
        role_arn: IAM role of the nodes; empty if unknown.
        let_in: Whether the cluster's aws-auth or an access entry names the role; None if unknown.
        managed: Whether EKS starts the nodes and generates their user data.
    """
    role = role_arn or "of the nodes"
    access = f"access: the role {role} must be in aws-auth or have an access entry"
    if let_in is not None:
        access += "; it is" if let_in else "; it is in neither: `refresh`, then `up`"
    user_data = "user data: nodeadm exits if its NodeConfig is invalid or names another cluster"
    route = (
        "route: the subnet needs a route to the API server, STS, EC2, ECR and S3, through a NAT "
        "gateway or endpoints"
    )
    group = "security group: that of the cluster must allow the nodes on port 443"
    found = [route, group] if let_in else [access, route, group]
    if not managed:
        found.insert(0 if let_in else 1, user_data)
    known = [access] if let_in else []
    return [f"{number}. {cause}" for number, cause in enumerate([*found, *known], start=1)]


def commands(
    *, region: str, cluster: str, instance_ids: Sequence[str], account: Account
) -> list[str]:
    """Return commands that show why the first of these instances has not joined."""
    if account.is_sandbox:
        return [LOOK_AT_SANDBOX]
    if not instance_ids:
        return []
    first = instance_ids[0]
    return [
        (
            f"aws ec2 get-console-output --region {region} --instance-id {first} --latest "
            "--output text"
        ),
        (
            f"aws ssm start-session --region {region} --target {first}    # then: sudo journalctl "
            "-u nodeadm-config -u nodeadm-run -u kubelet"
        ),
        (
            f"aws ssm start-automation-execution --region {region} --document-name "
            "AWSSupport-TroubleshootEKSWorkerNode --parameters "
            f"ClusterName={cluster},WorkerID={first}"
        ),
    ]


# Who uses a capacity reservation, and whether a node can launch into it now.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html and
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Instance.html, `capacityReservationId`.


@dataclass(frozen=True, slots=True)
class ReservationUse:
    """A capacity reservation and the instances in it."""

    reservation_id: str
    state: str
    """`active`, `scheduled`, `expired`, `cancelled` and others."""
    instance_type: str
    total: int
    """Number of reserved instances."""
    available: int
    """Number of instances that can be launched into it now."""
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    holders: Holders = field(default_factory=dict[str, tuple[str, ...]])
    """Ids of this account's instances in it, by owner."""
    is_open: bool = False
    """Whether any instance with its attributes runs in it, not only those that target it."""

    def described(self) -> str:
        """Return its state in one sentence, with the owners of its instances if it is full."""
        what = f"{self.reservation_id} ({self.total} x {self.instance_type})"
        reason = why_not_active(self.state, self.starts_at)
        if reason is not None:
            return f"EC2 launches no instances into {what}: {reason}"
        end = f"; it ends at {_moment(self.ends_at)}" if self.ends_at else ""
        if self.available > 0:
            return f"{what} has {self.available} of {self.total} instances available{end}"
        return f"{what} is full: {held_text(self.holders, used=self.total - self.available)}{end}"


def read_reservations(ec2: Any, reservation_ids: Sequence[str]) -> tuple[ReservationUse, ...]:
    """Return the reservations with these ids.

    Args:
        ec2: A boto3 EC2 client.
        reservation_ids: May be empty; then no request is sent.

    Raises:
        botocore.exceptions.ClientError: EC2 rejected the request, or an id does not exist.
    """
    if not reservation_ids:
        return ()
    answer = ec2.describe_capacity_reservations(CapacityReservationIds=[*reservation_ids])
    found: list[dict[str, Any]] = answer["CapacityReservations"]
    pages = ec2.get_paginator("describe_instances").paginate(
        Filters=holder_filters(reservation_ids)
    )
    held = holders_of(pages)
    return tuple(
        ReservationUse(
            reservation_id=each["CapacityReservationId"],
            state=each["State"],
            instance_type=each["InstanceType"],
            total=capacity_lookup.instance_count(each),
            available=each["AvailableInstanceCount"],
            starts_at=each.get("StartDate"),
            ends_at=each.get("EndDate"),
            holders=held.get(each["CapacityReservationId"], {}),
            is_open=each.get("InstanceMatchCriteria") == "open",
        )
        for each in found
    )


def _moment(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "an unknown time"


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
