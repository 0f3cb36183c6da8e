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
from typing import TYPE_CHECKING, Any

from trainyard.stack_files.stack_files import CLUSTER_KEY

if TYPE_CHECKING:
    from trainyard.schedulers.scheduler import Scheduler

FILE_SYSTEM = "acceptance"
"""Name of the file system that an acceptance adds."""
_LUSTRE: Mapping[str, Any] = {
    "kind": "fsx-lustre",
    "deployment_type": "SCRATCH_2",
    "storage_capacity_gib": 1200,
    "deletion_protection": False,
}
_MONITORING: Mapping[str, Any] = {"node_metrics": "cloudwatch", "dashboard": True}


def accepted_content(
    content: Mapping[str, Any], scheduler: type[Scheduler[Any]] | None
) -> dict[str, Any]:
    """Return the stack file of an acceptance.

    Args:
        content: The user's stack file.
        scheduler: Its scheduler; None for a network, to which nothing is added.
    """
    accepted = copy.deepcopy(dict(content))
    if scheduler is None:
        return accepted
    cluster = accepted["config"][CLUSTER_KEY]
    mount = scheduler.mount_settings(FILE_SYSTEM)
    if mount is not None and not cluster.get("storage"):
        cluster["storage"] = {FILE_SYSTEM: {**_LUSTRE, **mount}}
    if not cluster.get("monitoring"):
        cluster["monitoring"] = dict(_MONITORING)
    return accepted


def changed_content(
    content: Mapping[str, Any], scheduler: type[Scheduler[Any]] | None
) -> tuple[dict[str, Any], str]:
    """Return a stack file with a change that AWS makes in place, and the path of what it changes.

    No node is replaced or launched, so the change needs no quota.

    Args:
        content: The stack file of the acceptance.
        scheduler: Its scheduler; None for a network.
    """
    changed = copy.deepcopy(dict(content))
    cluster = changed["config"][CLUSTER_KEY]
    if scheduler is not None and (key := scheduler.change_in_place(cluster["architecture"])):
        return changed, f"architecture.{key}"
    cluster["tags"] = {**(cluster.get("tags") or {}), "Acceptance": "changed"}
    return changed, "tags"
