"""Rows for the results of dry runs.

Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
"""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.components.checks.row import Row, ok, refused, skipped, warning
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.preflight.dry_run import DryRun

LAUNCH = "EC2 would launch a node (dry run)"

WOULD_HAVE_SUCCEEDED = "DryRunOperation"
_MAY_NOT = frozenset({"UnauthorizedOperation", "AccessDenied", "AccessDeniedException"})
_BUSY = frozenset({"RequestLimitExceeded", "Throttling", "InternalError", "Unavailable"})
_UNAVAILABLE = {
    "InsufficientInstanceCapacity": "EC2 has no capacity at the moment",
    "InsufficientCapacity": "EC2 has no capacity at the moment",
    "ReservationCapacityExceeded": "the reservation has no available instance at the moment",
    "InsufficientFreeAddressesInSubnet": "the subnet has no free IP address at the moment",
    "InstanceLimitExceeded": "one more node would exceed the instance quota",
    "VcpuLimitExceeded": "one more node would exceed the vCPU quota",
    "MaxSpotInstanceCountExceeded": "one more node would exceed the Spot Instance quota",
}
"""Error codes that are temporary or can be caused by the stack's own nodes: not refused."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    key: str
    """Key relative to the node pool."""
    problem: str
    remedy: str


_REFUSALS = {
    "Unsupported": _Refusal(
        "instance_type",
        "EC2 cannot launch this node in this subnet",
        "use a subnet in one of the zones that the message lists, or another instance type",
    ),
    "InvalidParameterCombination": _Refusal(
        "instance_type",
        "EC2 rejects this combination of settings",
        (
            "change the setting that the message names: interfaces, placement group, market or "
            "reservation"
        ),
    ),
    "OptInRequired": _Refusal(
        "instance_type",
        "the account has not subscribed to the AMI",
        "subscribe at the URL in the message, or use another AMI",
    ),
    "InvalidCapacityReservationState": _Refusal(
        "purchase_option",
        "EC2 launches no instance into the reservation in its current state",
        "use another reservation",
    ),
}
_OTHER = _Refusal(
    "instance_type",
    "EC2 rejects the launch of this node",
    "change the setting that the message names",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of EC2 to a dry run, which is always an error."""

    code: str
    message: str


def dry_run_row(dry_run: DryRun, image_id: str, answer: Answer) -> Row:
    """Return the row of a node pool for a response."""
    launch = dry_run.launch
    said = f"{answer.code}: {answer.message}"
    if answer.code == WOULD_HAVE_SUCCEEDED:
        name = launch.instance_type.name
        return ok(launch.key, LAUNCH, f"{name} from {image_id} in {dry_run.subnet_id}")
    if answer.code in _MAY_NOT:
        return skipped(launch.key, LAUNCH, f"ec2:RunInstances: {answer.code}")
    if answer.code in _BUSY:
        return skipped(launch.key, LAUNCH, said)
    if answer.code in _UNAVAILABLE:
        return warning(launch.key, LAUNCH, f"{_UNAVAILABLE[answer.code]} ({said})")
    refusal = _REFUSALS.get(answer.code, _OTHER)
    problem = Problem(
        path=f"{ROOT}.{launch.key}.{refusal.key}",
        found=said,
        problem=refusal.problem,
        remedy=refusal.remedy,
    )
    return refused(LAUNCH, problem)
