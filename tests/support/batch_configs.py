"""Valid stack files of AWS Batch and of networks alone, for tests that change them.

Their ids are those of the sandbox's account.
"""

from __future__ import annotations

from typing import Any

from tests.support.parallelcluster_configs import (
    AMI,
    PRIVATE_A,
    PRIVATE_B,
    PUBLIC_A,
    PUBLIC_B,
    RESERVATION,
    VPC,
    raw_config,
)

__all__ = ["raw_config"]

IMAGE = "public.ecr.aws/example/nccl-tests:1.0"

RAW: dict[str, Any] = {
    "name": "batch-g4dn",
    "network": {
        "kind": "existing-vpc",
        "vpc_id": VPC,
        "public_subnet_ids": [PUBLIC_A, PUBLIC_B],
        "private_subnet_ids": [PRIVATE_A, PRIVATE_B],
    },
    "architecture": {
        "kind": "batch",
        "compute_environments": {"g4dn": {"instance_type": "g4dn.8xlarge", "maximum": 4}},
        "job_definitions": {"nccl-single": {"compute_environment": "g4dn"}},
    },
}
"""A small On-Demand stack without EFA."""

P4D: dict[str, Any] = {
    **RAW,
    "name": "batch-p4d",
    "reservations": {
        "p4d": {
            "kind": "odcr",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 2,
        }
    },
    "architecture": {
        "kind": "batch",
        "compute_environments": {
            "p4d": {
                "instance_type": "p4d.24xlarge",
                "purchase_option": "p4d",
                "efa_enabled": True,
                "maximum": 2,
            }
        },
        "job_definitions": {
            "nccl-single": {"compute_environment": "p4d"},
            "nccl-multi": {"compute_environment": "p4d", "nodes": 2},
        },
        "repository": {},
    },
}
"""Two p4d.24xlarge in an ODCR of the account, with EFA."""

P5: dict[str, Any] = {
    **RAW,
    "name": "batch-p5",
    "reservations": {
        "block": {
            "kind": "capacity-block",
            "reservation_id": RESERVATION,
            "availability_zone": "us-west-2b",
            "instance_count": 2,
            "starts_at": "2026-11-01T11:30:00Z",
            "ends_at": "2027-01-01T11:30:00Z",
        }
    },
    "architecture": {
        "kind": "batch",
        "compute_environments": {
            "p5": {
                "instance_type": "p5.48xlarge",
                "purchase_option": "block",
                "efa_enabled": True,
                "maximum": 2,
            }
        },
        "job_definitions": {"nccl-multi": {"compute_environment": "p5", "nodes": 2}},
        "repository": {},
    },
}
"""Two p5.48xlarge in a Capacity Block, with EFA."""

TRN1: dict[str, Any] = {
    **RAW,
    "name": "batch-trn1",
    "architecture": {
        "kind": "batch",
        "compute_environments": {
            "trn1": {
                "instance_type": "trn1.32xlarge",
                "efa_enabled": True,
                "subnet_id": PRIVATE_B,
                "image": "custom",
                "custom_ami_id": AMI,
                "maximum": 4,
            }
        },
        "job_definitions": {
            "nccom-multi": {"compute_environment": "trn1", "nodes": 4, "image": IMAGE}
        },
    },
}
"""Four On-Demand trn1.32xlarge with EFA."""

NETWORK_RAW: dict[str, Any] = {
    "name": "vpc-one-az",
    "network": {
        "kind": "new-vpc",
        "availability_zones": ["us-west-2b"],
        "addresses": "vpc-one-az",
        "flow_logs": True,
    },
    "architecture": {"kind": "network"},
}
"""A VPC of one zone, without a cluster."""
