"""File systems that a ParallelCluster creates, and queues with several subnets (F8)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import cluster_with, shared_storage
from trainyard.policies.rules.storage.parallelcluster_managed_lustre import POLICY

EXISTING = shared_storage(
    FileSystemId="fs-1", DeploymentType=None, PerUnitStorageThroughput=None, StorageCapacity=None
)
VIOLATING = ((cluster_with(shared_storage(), subnets=2),),)
CLEAN = ((cluster_with(shared_storage()),),)


def test_the_message_names_the_queue_and_the_storage():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "slurm: its queue gpu has 2 subnets, and the cluster creates the Lustre file system fsx "
        "in one zone; keep one subnet in the queue, or mount an existing file system"
    )


@pytest.mark.parametrize(
    "made",
    [CLEAN[0][0], cluster_with(EXISTING, subnets=2), cluster_with(subnets=2)],
    ids=["one-subnet", "existing", "no-storage"],
)
def test_passes(made):
    assert check(POLICY, made).messages == []
