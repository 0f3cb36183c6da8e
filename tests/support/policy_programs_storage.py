"""Programs with file systems of FSx for Lustre, as resources or as part of a ParallelCluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import yaml

from policies.resources.types import CLOUDFORMATION_STACK, LUSTRE_FILE_SYSTEM
from tests.support.policy import Declared
from tests.support.policy_programs_capacity import slurm
from tests.support.tracked import ROOT


def file_system(**changes: Any) -> Declared:
    """Return a protected PERSISTENT_2 file system of 1200 GiB and 125 MB/s/TiB, with changes."""
    props = {
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 125,
        "storageCapacity": 1200,
        "subnetIds": "subnet-0",
        **changes,
    }
    kept = {key: value for key, value in props.items() if value is not None}
    return Declared(LUSTRE_FILE_SYSTEM, "lustre", kept, protect=True)


def shared_storage(name: str = "fsx", directory: str = "/fsx", **settings: Any) -> dict[str, Any]:
    """Return the same file system as shared storage of a ParallelCluster."""
    made = {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
        "StorageCapacity": 1200,
        **settings,
    }
    kept = {key: value for key, value in made.items() if value is not None}
    return {
        "Name": name,
        "MountDir": directory,
        "StorageType": "FsxLustre",
        "FsxLustreSettings": kept,
    }


def cluster_with(*storage: dict[str, Any], subnets: int = 1) -> Declared:
    """Return a ParallelCluster with shared storage, and a queue of some subnets."""
    ids = [f"subnet-{index}" for index in range(subnets)]
    return slurm({"Networking": {"SubnetIds": ids}}, {}, SharedStorage=list(storage))


def rendered_cluster(stack: str, change: Callable[[dict[str, Any]], object]) -> Declared:
    """Return a cluster as the program's renderer writes it, with changes."""
    golden = ROOT / "tests" / "goldens" / "clusters" / f"{stack}.yaml"
    cluster = yaml.safe_load(golden.read_text(encoding="utf-8"))
    change(cluster)
    made = {
        "Type": "Custom::PclusterCluster",
        "Properties": {"ClusterName": stack, "ClusterConfiguration": cluster},
    }
    body = json.dumps({"Resources": {"PclusterCluster": made}})
    return Declared(CLOUDFORMATION_STACK, stack, {"templateBody": body})
