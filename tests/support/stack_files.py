"""Stack files of any architecture: ids of the sandbox's account, changes, plans and refusals."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ROOT, ConfigError, Problem

STACK_FILE = "Pulumi.p5-cb.yaml"
REGION = "us-west-2"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
VPC = "vpc-0123456789abcdef0"
PUBLIC_A = "subnet-0a000000000000001"
PUBLIC_B = "subnet-0b000000000000001"
PRIVATE_A = "subnet-0a000000000000002"
PRIVATE_B = "subnet-0b000000000000002"
AMI = "ami-0123456789abcdef0"
RESERVATION = "cr-0123456789abcdef0"

EXISTING_NETWORK: Mapping[str, Any] = {
    "kind": "existing-vpc",
    "vpc_id": VPC,
    "public_subnet_ids": [PUBLIC_A, PUBLIC_B],
    "private_subnet_ids": [PRIVATE_A, PRIVATE_B],
}


def raw_config(base: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the value of `trainyard:cluster` in a stack file, with some keys changed.

    Args:
        base: The stack file to change.
        changes: By key with `__` for each dot: `architecture__head_node__network="private"`.
            `...` removes a key. Pass names of queues and storage with hyphens as `**{...}`.
    """
    config = copy.deepcopy(dict(base))
    for key, value in changes.items():
        config = with_value(config, key.split("__"), value, removed=...)
    return config


def value_at(raw: Mapping[str, Any], place: Sequence[str]) -> Any:
    """Return the value at a path of a file, or None."""
    value: Any = raw
    for key in place:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def with_value(
    raw: Mapping[str, Any], place: Sequence[str], value: Any, *, removed: Any = None
) -> dict[str, Any]:
    """Return a copy of a file with a value at a path; the value `removed` removes the key."""
    changed = copy.deepcopy(dict(raw))
    *parents, key = place
    target: Any = changed
    for parent in parents:
        target = target.setdefault(parent, {})
    if value is removed:
        target.pop(key, None)
    else:
        target[key] = copy.deepcopy(value)
    return changed


def with_values(raw: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a file with values by path, such as `network.vpc_id`; None removes a key."""
    changed = dict(raw)
    for place, value in values.items():
        changed = with_value(changed, place.split("."), value)
    return changed


def plan_from(raw: object, *, region: str = REGION, now: datetime = NOW, **options: Any) -> Any:
    """Return the plan of a stack file, as `plan_stack` with `options` makes it.

    Raises:
        ConfigError: the stack file cannot be planned.
    """
    config = load_stack_config(raw, stack_file=STACK_FILE)
    return plan_stack(config, stack_file=STACK_FILE, region=region, now=now, **options)


def refusals(raw: object, **options: Any) -> dict[str, Problem]:
    """Return the problems of a stack file, by path below `trainyard:cluster`; empty if none."""
    try:
        plan_from(raw, **options)
    except ConfigError as error:
        return by_path(error)
    return {}


def by_path(error: ConfigError) -> dict[str, Problem]:
    """Return the problems of an error, by path below `trainyard:cluster`."""
    return {problem.path.removeprefix(f"{ROOT}."): problem for problem in error.problems}


def notes(raw: object, **options: Any) -> str:
    """Return the notes of a plan, one line each."""
    return "\n".join(plan_from(raw, **options).notes)
