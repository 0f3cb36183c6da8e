"""A ParallelCluster that creates a Lustre file system has queues with one subnet.

Why:
    ParallelCluster creates the file system in one zone. It rejects queues with several subnets,
    because nodes in another zone would pay for their reads.
Fix:
    Keep one subnet in each queue, or create the file system first and mount it as an existing one.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.parallelcluster import clusters
from trainyard.policies.resources.props import Facts, members, objects
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for cluster in clusters(facts.get("templateBody")):
        name = next((each.get("Name") for each in _made(cluster)), None)
        for queue in objects(members(cluster, "Scheduling"), "SlurmQueues"):
            subnets = members(queue, "Networking").get("SubnetIds")
            if name is not None and isinstance(subnets, list) and len(subnets) > 1:
                yield (
                    f"its queue {queue.get('Name')} has {len(subnets)} subnets, and the cluster "
                    f"creates the Lustre file system {name} in one zone; keep one subnet in the "
                    "queue, or mount an existing file system"
                )


def _made(cluster: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for storage in objects(cluster, "SharedStorage"):
        existing = members(storage, "FsxLustreSettings").get("FileSystemId")
        if storage.get("StorageType") == "FsxLustre" and not existing:
            yield storage


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["network", "F8"],
    types=(CLOUDFORMATION_STACK,),
    check=_check,
)
