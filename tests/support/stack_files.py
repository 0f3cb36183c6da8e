"""A complete p5 Capacity Block configuration, and functions that change it in one place."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from components.architectures.plan_stack import plan_stack
from components.config.load import load_stack_config
from components.config.problems import ROOT, ConfigError, Problem
from components.config.review import Review
from components.config.stack import StackConfig
from components.eks.node_group_plan import NodeGroupPlan, plan_node_group
from components.eks.plan import EksPlan
from components.network.pool_place import PlanContext
from components.network.vpc_plan import plan_network
from tests.support.kubernetes_versions import DEFAULT

STACK_FILE = "Pulumi.p5-cb.yaml"
REGION = "us-west-2"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PUBLIC = ["subnet-000000000000000a1", "subnet-000000000000000b1"]
PRIVATE = ["subnet-000000000000000a2", "subnet-000000000000000b2"]
RESERVATION = "cr-0123456789abcdef0"
OTHER_RESERVATION = "cr-0fedcba9876543210"

P5_CB: Mapping[str, Any] = {
    "name": "p5-cb",
    "network": {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": PUBLIC,
        "private_subnet_ids": PRIVATE,
    },
    "reservations": {
        "block": {
            "kind": "capacity-block",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 2,
        }
    },
    "architecture": {
        "kind": "eks",
        "kubernetes_version": DEFAULT,
        "node_groups": {
            "p5": {
                "management": "self-managed",
                "instance_type": "p5.48xlarge",
                "purchase_option": "block",
                "desired": 2,
                "maximum": 2,
                "efa_enabled": True,
            }
        },
    },
}

_REMOVE = object()


def changed(**changes: Any) -> dict[str, Any]:
    """Return the configuration with values replaced; `__` separates the keys of a path.

    `changed(architecture__node_groups__p5__desired=3)`; the value `removed()` removes a key.
    """
    raw = copy.deepcopy(dict(P5_CB))
    for path, value in changes.items():
        *parents, key = path.split("__")
        place: dict[str, Any] = raw
        for parent in parents:
            place = place.setdefault(parent, {})
        if value is _REMOVE:
            del place[key]
        else:
            place[key] = value
    return raw


def removed() -> object:
    """Return the value that makes `changed` remove a key."""
    return _REMOVE


def p5(**changes: Any) -> dict[str, Any]:
    """Return the configuration with keys of its node group replaced."""
    return changed(**{f"architecture__node_groups__p5__{key}": v for key, v in changes.items()})


def block(**changes: Any) -> dict[str, Any]:
    """Return the configuration with keys of its reservation replaced."""
    return changed(**{f"reservations__block__{key}": v for key, v in changes.items()})


def with_odcr(reservation: Mapping[str, Any] | None = None, **group: Any) -> dict[str, Any]:
    """Return the configuration with an ODCR instead of the Capacity Block."""
    raw = p5(**group)
    raw["reservations"] = {
        "block": {
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            **(reservation or {}),
        }
    }
    return raw


def with_created_odcr(**reservation: Any) -> dict[str, Any]:
    """Return the configuration with an ODCR that the stack creates."""
    raw = with_odcr({"create": True, "instance_count": 2})
    del raw["reservations"]["block"]["reservation_id"]
    raw["reservations"]["block"].update(reservation)
    return raw


def config(raw: object) -> StackConfig:
    return load_stack_config(raw, stack_file=STACK_FILE)


def plan(raw: object, *, now: datetime = NOW, **options: Any) -> EksPlan:
    return plan_stack(config(raw), stack_file=STACK_FILE, region=REGION, now=now, **options)


def group(raw: object, name: str = "p5", *, now: datetime = NOW) -> NodeGroupPlan:
    return next(g for g in plan(raw, now=now).node_groups if g.name == name)


def group_before_review(raw: object, name: str = "p5") -> NodeGroupPlan:
    """Return the plan of a node group, even if `plan_stack` refuses it."""
    stack = config(raw)
    context = PlanContext(
        config=stack,
        region=REGION,
        network=plan_network(stack.network, region=REGION),
        now=NOW,
    )
    review = Review(stack_file=STACK_FILE)
    planned = plan_node_group(name, stack.architecture.node_groups[name], context, review)
    assert planned is not None
    return planned


def schema_problems(raw: object, stray_keys: tuple[str, ...] = ()) -> dict[str, Problem]:
    """Return the problems that `load_stack_config` reports, by path below `trainyard:cluster`."""
    try:
        load_stack_config(raw, stack_file=STACK_FILE, stray_keys=stray_keys)
    except ConfigError as error:
        return _by_path(error)
    return {}


def plan_problems(raw: object, *, now: datetime = NOW, **options: Any) -> dict[str, Problem]:
    """Return the problems that `plan_stack` reports, by path below `trainyard:cluster`."""
    loaded = config(raw)
    try:
        plan_stack(loaded, stack_file=STACK_FILE, region=REGION, now=now, **options)
    except ConfigError as error:
        return _by_path(error)
    return {}


def _by_path(error: ConfigError) -> dict[str, Problem]:
    paths = {problem.path.removeprefix(f"{ROOT}."): problem for problem in error.problems}
    assert len(paths) == len(error.problems), "two problems have one path"
    return paths
