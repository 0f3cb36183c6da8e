"""One broken cluster, as a stack file and as ParallelCluster's YAML."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.rendering import render_cluster

STACK_FILE = "Pulumi.pc-broken.yaml"
REGION = "us-west-2"
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PUBLIC_B, PUBLIC_D = "subnet-0b000000000000001", "subnet-0d000000000000001"
PRIVATE_A, PRIVATE_B = "subnet-0a000000000000002", "subnet-0b000000000000002"
TINY_B = "subnet-0b000000000000282"
QUEUES, YAML_QUEUES = "architecture.queues", "Scheduling.SlurmQueues"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A change of the valid stack file and the same change of the valid YAML."""

    name: str
    """Description of the fault; each case has one."""
    ours: Mapping[str, Any]
    """New values of the stack file by path, `...` to remove a key; empty if a stack file cannot
    express the fault."""
    theirs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """New values of the YAML by path; entries of lists by `Name` or by index. Empty if the YAML
    cannot express the fault."""
    cluster: str = "pc-broken"
    """Name of the cluster for ParallelCluster."""
    path: str = ""
    """Key at which the stack file is refused; empty if it is accepted."""
    validators: tuple[str, ...] = ()
    """ParallelCluster's validators that refuse the YAML; empty if it is accepted."""
    why: str = ""
    """Why the two differ: the stack file is stricter on purpose, or the check is left to
    ParallelCluster."""
    account: bool = False
    """Whether the check of the stack file needs the account."""


GOOD: Mapping[str, Any] = {
    "name": "pc-broken",
    "network": {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "public_subnet_ids": [PUBLIC_B, PUBLIC_D],
        "private_subnet_ids": [PRIVATE_A, PRIVATE_B],
    },
    "reservations": {
        "p4de": {
            "kind": "odcr",
            "reservation_id": "cr-00d00000000000001",
            "availability_zone": "us-west-2b",
            "instance_count": 2,
            "placement_group": "p4de-reserved",
        },
        "block": {
            "kind": "capacity-block",
            "reservation_id": "cr-0123456789abcdef0",
            "availability_zone": "us-west-2b",
            "instance_count": 2,
        },
    },
    "storage": {
        "fsx": {
            "kind": "fsx-lustre",
            "mount_directory": "/fsx",
            "storage_capacity_gib": 4800,
            "per_unit_storage_throughput": 250,
        },
        "apps": {"kind": "ebs", "mount_directory": "/apps", "size_gib": 200},
    },
    "architecture": {
        "kind": "parallelcluster",
        "head_node": {
            "instance_type": "m5.8xlarge",
            "subnet_id": PUBLIC_B,
            "ssh": {"key_name": "sandbox"},
        },
        "queues": {
            "train": {
                "purchase_option": "p4de",
                "subnet_ids": [PRIVATE_B],
                "scratch_directory": "/local_scratch",
                "compute_resources": {
                    "ml": {
                        "instance_type": "p4de.24xlarge",
                        "minimum": 2,
                        "maximum": 2,
                        "efa_enabled": True,
                    }
                },
            },
            "block": {
                "purchase_option": "block",
                "subnet_ids": [PRIVATE_B],
                "compute_resources": {
                    "p5": {
                        "instance_type": "p5.48xlarge",
                        "minimum": 2,
                        "maximum": 2,
                        "efa_enabled": True,
                    }
                },
            },
            "open": {
                "subnet_ids": [PRIVATE_B],
                "compute_resources": {"g4dn": {"instance_type": "g4dn.8xlarge", "maximum": 4}},
            },
        },
    },
}
"""A cluster in the sandbox's account that is valid in every place that a case breaks."""


def broken_stack(case: Case) -> dict[str, Any]:
    """Return the stack file of a case, the value of `trainyard:cluster`."""
    return _changed(GOOD, case.ours)


def good_yaml() -> dict[str, Any]:
    """Return the YAML of the valid cluster, with the ids of its subnets."""
    config = load_stack_config(GOOD, stack_file=STACK_FILE)
    assert isinstance(config, ParallelClusterStackConfig)
    plan = plan_stack(config, stack_file=STACK_FILE, region=REGION, now=NOW)
    return resolve(render_cluster(plan), _subnet_id)


def broken_yaml(case: Case, good: Mapping[str, Any]) -> dict[str, Any]:
    """Return the YAML of a case."""
    return _changed(good, case.theirs)


def _subnet_id(reference: Reference) -> str:
    assert reference.kind == "subnet"
    return reference.name


def _changed(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(dict(base))
    for place, value in changes.items():
        *parents, last = place.split(".")
        at: Any = changed
        for part in parents:
            at = _child(at, part)
        _set(at, last, value)
    return changed


def _child(at: Any, part: str) -> Any:
    if isinstance(at, list):
        return at[_index(at, part)]
    return at.setdefault(part, {})


def _set(at: Any, last: str, value: Any) -> None:
    key: Any = _index(at, last) if isinstance(at, list) else last
    if value is ...:
        del at[key]
    elif last == "+":
        at.append(copy.deepcopy(value))
    else:
        before = at[key] if isinstance(at, list) else at.get(key)
        make: Callable[[Any], Any] | None = value if callable(value) else None
        at[key] = make(before) if make else copy.deepcopy(value)


def _index(at: list[Any], part: str) -> int:
    if part == "+":
        return len(at)
    named = [i for i, each in enumerate(at) if isinstance(each, dict) and each.get("Name") == part]
    return named[0] if named else int(part)
