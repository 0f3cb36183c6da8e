"""Complete stack files of ParallelCluster, which tests change in one place.

Their ids are those of the sandbox's account.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

VPC = "vpc-0123456789abcdef0"
PUBLIC_A = "subnet-0a000000000000001"
PUBLIC_B = "subnet-0b000000000000001"
PRIVATE_A = "subnet-0a000000000000002"
PRIVATE_B = "subnet-0b000000000000002"
AMI = "ami-0123456789abcdef0"
RESERVATION = "cr-0123456789abcdef0"


def raw_config(base: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return the value of `trainyard:cluster` in a stack file, with some keys changed.

    Args:
        base: The stack file to change; by default `RAW`, the small stack.
        changes: By key with `__` for each dot: `architecture__head_node__network="private"`.
            `...` removes a key. Pass names of queues and storage with hyphens as `**{...}`.
    """
    config = copy.deepcopy(dict(base if base is not None else RAW))
    for key, value in changes.items():
        _put(config, key.split("__"), value)
    return config


def _put(config: dict[str, Any], path: list[str], value: Any) -> None:
    at: dict[str, Any] = config
    for part in path[:-1]:
        at = at.setdefault(part, {})
    if value is ...:
        at.pop(path[-1], None)
    else:
        at[path[-1]] = copy.deepcopy(value)


RAW: dict[str, Any] = {
    "name": "pc-g4dn",
    "network": {
        "kind": "existing-vpc",
        "vpc_id": VPC,
        "public_subnet_ids": [PUBLIC_A, PUBLIC_B],
        "private_subnet_ids": [PRIVATE_A, PRIVATE_B],
    },
    "architecture": {
        "kind": "parallelcluster",
        "head_node": {"instance_type": "m5.8xlarge", "ssh": {"key_name": "sandbox"}},
        "queues": {
            "compute": {
                "compute_resources": {"g4dn": {"instance_type": "g4dn.8xlarge", "maximum": 2}}
            }
        },
    },
}
"""The stack file of a small cluster in an existing VPC."""

RAW_P4DE: dict[str, Any] = {
    **RAW,
    "name": "pc-p4de",
    "reservations": {
        "p4de": {
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 4,
        }
    },
    "storage": {
        "fsx": {
            "kind": "fsx-lustre",
            "mount_directory": "/fsx",
            "storage_capacity_gib": 4800,
            "per_unit_storage_throughput": 250,
        },
        "apps": {
            "kind": "ebs",
            "mount_directory": "/apps",
            "size_gib": 200,
            "iops": 6000,
            "throughput_mibps": 300,
        },
    },
    "architecture": {
        "kind": "parallelcluster",
        "custom_ami_id": AMI,
        "head_node": {"instance_type": "m5.8xlarge", "ssh": {"key_name": "sandbox"}},
        "queues": {
            "compute-gpu": {
                "purchase_option": "p4de",
                "exclusive_jobs": True,
                "scratch_directory": "/local_scratch",
                "compute_resources": {
                    "distributed-ml": {
                        "instance_type": "p4de.24xlarge",
                        "minimum": 4,
                        "maximum": 4,
                        "efa_enabled": True,
                    }
                },
            }
        },
    },
}
"""The stack file of a p4de cluster in an ODCR of the account, with shared storage."""

RAW_TRN1: dict[str, Any] = {
    **RAW,
    "name": "pc-trn1",
    "architecture": {
        "kind": "parallelcluster",
        "head_node": {"instance_type": "m5.4xlarge", "ssh": {"key_name": "sandbox"}},
        "queues": {
            "compute1": {
                "subnet_ids": [PRIVATE_B],
                "compute_resources": {
                    "queue1-i1": {
                        "instance_type": "trn1.32xlarge",
                        "maximum": 16,
                        "efa_enabled": True,
                    }
                },
            }
        },
    },
}
"""The stack file of an On-Demand Trainium cluster."""


def raw_p4de(**changes: Any) -> dict[str, Any]:
    """Return the stack file of the p4de cluster, changed as in `raw_config`."""
    return raw_config(RAW_P4DE, **changes)


def raw_trn1(**changes: Any) -> dict[str, Any]:
    """Return the stack file of the Trainium cluster, changed as in `raw_config`."""
    return raw_config(RAW_TRN1, **changes)
