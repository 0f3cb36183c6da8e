"""The shared storage of a ParallelCluster stack, planned separately."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.parallelcluster import RAW_P4DE
from tests.support.pools import NETWORK
from tests.support.stack_files import PRIVATE_B, PUBLIC_B, raw_config
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
from trainyard.components.config.problems import ROOT, Problem, Review
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.parallelcluster.plan import SharedStoragePlan
from trainyard.components.parallelcluster.storage_plan import SharedStorage, plan_shared_storage

STACK_FILE = "Pulumi.pc-p4de.yaml"
LUSTRE = {"kind": "fsx-lustre", "mount_directory": "/fsx", "per_unit_storage_throughput": 250}
EBS = {"kind": "ebs", "mount_directory": "/apps", "size_gib": 200}
EFS = {"kind": "efs", "mount_directory": "/home"}
ZFS = {"kind": "fsx-openzfs", "mount_directory": "/zfs"}
OLD_LUSTRE = {
    "kind": "existing-fsx-lustre",
    "mount_directory": "/fsx",
    "file_system_id": "fs-0f5c0000000000001",
}
OLD_EFS = {
    "kind": "existing-efs",
    "mount_directory": "/efs",
    "file_system_id": "fs-0ef50000000000001",
}
OLD_ZFS = {
    "kind": "existing-fsx-openzfs",
    "mount_directory": "/zfs",
    "volume_id": "fsvol-0f5c0000000000002",
}
OLD_EBS = {
    "kind": "existing-ebs",
    "mount_directory": "/data",
    "volume_id": "vol-0123456789abcdef0",
}


@dataclass(frozen=True)
class Planned:
    """The planned `storage`, and its problems and notes."""

    storage: SharedStorage
    review: Review

    @property
    def problems(self) -> dict[str, Problem]:
        """By path below `trainyard:cluster`."""
        found = {each.path.removeprefix(f"{ROOT}."): each for each in self.review.problems}
        assert len(found) == len(self.review.problems), "two problems have one path"
        return found

    def entry(self, name: str) -> SharedStoragePlan:
        """Return an entry by its name."""
        return next(each for each in self.storage.entries if each.name == name)


def config_with(
    storage: Mapping[str, Mapping[str, Any]], base: Mapping[str, Any] = RAW_P4DE, **changes: Any
) -> ParallelClusterStackConfig:
    """Return the p4de stack with this storage; `changes` are those of `raw_config`."""
    raw = raw_config({**base, "storage": dict(storage)}, **changes)
    found = load_stack_config(raw, stack_file=STACK_FILE)
    assert isinstance(found, ParallelClusterStackConfig)
    return found


def planned(
    storage: Mapping[str, Mapping[str, Any]] | ParallelClusterStackConfig,
    *,
    network: NetworkPlan = NETWORK,
    queue_subnets: tuple[str, ...] = (PRIVATE_B,),
    head_subnets: tuple[str, ...] = (PUBLIC_B,),
    subnets_known: bool = True,
) -> Planned:
    """Return the plan of the storage of a cluster in one subnet."""
    config = storage if isinstance(storage, ParallelClusterStackConfig) else config_with(storage)
    review = Review(stack_file=STACK_FILE)
    found = plan_shared_storage(
        config,
        network,
        queue_subnets=queue_subnets,
        head_subnets=head_subnets,
        review=review,
        subnets_known=subnets_known,
    )
    return Planned(found, review)
