"""The stack files of an acceptance: that of the user with what the steps need, and a change of it.

The acceptance leaves the user's file as it is. Its own file has, in addition,

- a file system for the checkpoints of the training, unless the stack has storage: FSx for Lustre,
  the only kind that EKS and ParallelCluster both mount, of the smallest size, without protection;
- the metrics of nodes and a dashboard, unless the stack has `monitoring`.

Sources:
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html (the smallest
        file system has 1.2 TiB)
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from trainyard.components.config.eks import SystemNodeGroup
from trainyard.components.config.parallelcluster import Monitoring
from trainyard.stack_files.stack_files import BATCH, CLUSTER_KEY, EKS, PARALLELCLUSTER

FILE_SYSTEM = "acceptance"
"""Name of the file system that an acceptance adds."""
MOUNT_DIRECTORY = f"/{FILE_SYSTEM}"
"""Where the nodes of Slurm have it."""
_LUSTRE: Mapping[str, Any] = {
    "kind": "fsx-lustre",
    "deployment_type": "SCRATCH_2",
    "storage_capacity_gib": 1200,
    "deletion_protection": False,
}
_MONITORING: Mapping[str, Any] = {"node_metrics": "cloudwatch", "dashboard": True}


def accepted_content(content: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the stack file of an acceptance.

    Args:
        content: The user's stack file.
        kind: Its architecture, such as `eks`.
    """
    accepted = copy.deepcopy(dict(content))
    cluster = accepted["config"][CLUSTER_KEY]
    if kind in (EKS, PARALLELCLUSTER) and not cluster.get("storage"):
        mount = {"mount_directory": MOUNT_DIRECTORY} if kind == PARALLELCLUSTER else {}
        cluster["storage"] = {FILE_SYSTEM: {**_LUSTRE, **mount}}
    if kind in (EKS, PARALLELCLUSTER, BATCH) and not cluster.get("monitoring"):
        cluster["monitoring"] = dict(_MONITORING)
    return accepted


def changed_content(content: Mapping[str, Any], kind: str) -> tuple[dict[str, Any], str]:
    """Return a stack file with a change that AWS makes in place, and the path of what it changes.

    No node is replaced or launched, so the change needs no quota: `EKS UpdateNodegroupConfig`_
    takes another maximum, a dashboard is no part of the nodes of ParallelCluster (`Dashboards`_ can
    be changed during an update), and another timeout is a revision of a job definition.

    .. _EKS UpdateNodegroupConfig:
        https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupConfig.html
    .. _Dashboards:
        https://docs.aws.amazon.com/parallelcluster/latest/ug/Monitoring-v3.html

    Args:
        content: The stack file of the acceptance.
        kind: Its architecture.
    """
    changed = copy.deepcopy(dict(content))
    cluster = changed["config"][CLUSTER_KEY]
    architecture = cluster.get("architecture") or {}
    if kind == EKS:
        nodes = architecture.setdefault("system_node_group", {})
        nodes["maximum"] = nodes.get("maximum", SystemNodeGroup.model_fields["maximum"].default) + 1
        return changed, "architecture.system_node_group.maximum"
    if kind == PARALLELCLUSTER:
        monitoring = architecture.setdefault("monitoring", {})
        default = Monitoring.model_fields["dashboard"].default
        monitoring["dashboard"] = not monitoring.get("dashboard", default)
        return changed, "architecture.monitoring.dashboard"
    definitions = architecture.get("job_definitions") or {}
    for name, definition in definitions.items():
        definition["timeout_minutes"] = int(definition.get("timeout_minutes") or 60) + 1
        return changed, f"architecture.job_definitions.{name}.timeout_minutes"
    cluster["tags"] = {**(cluster.get("tags") or {}), "Acceptance": "changed"}
    return changed, "tags"
