"""A ParallelCluster that makes its Lustre file system has queues of one subnet.

Why:
    ParallelCluster makes the file system in one zone and puts it next to the queues. It refuses
    that for a queue with several subnets, since nodes in another zone would pay for what they
    read; and it makes one file system a cluster.
Fix:
    Leave one subnet in each queue, or make the file system first and mount it as an existing one.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.parallelcluster import clusters
from policies.resources.props import Facts, members, objects
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for cluster in clusters(facts.get("templateBody")):
        name = next((each.get("Name") for each in _made(cluster)), None)
        for queue in objects(members(cluster, "Scheduling"), "SlurmQueues"):
            subnets = members(queue, "Networking").get("SubnetIds")
            if name is not None and isinstance(subnets, list) and len(subnets) > 1:
                yield (
                    f"its queue {queue.get('Name')} has {len(subnets)} subnets, and the cluster "
                    f"makes the Lustre file system {name} in one zone; leave one subnet in the "
                    "queue, or mount a file system that exists"
                )


def _made(cluster: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for storage in objects(cluster, "SharedStorage"):
        existing = members(storage, "FsxLustreSettings").get("FileSystemId")
        if storage.get("StorageType") == "FsxLustre" and not existing:
            yield storage


POLICY = ResourceValidationPolicy(
    name="parallelcluster-managed-lustre",
    display_name="Queues of a cluster with its own Lustre have one subnet",
    description="A ParallelCluster that makes a Lustre file system has queues of one subnet.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["storage", "network", "F8"],
    remediation_steps="Leave one subnet in each queue, or mount an existing file system.",
    url="https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html",
    validate=on_types(CLOUDFORMATION_STACK, check=_check),
)
