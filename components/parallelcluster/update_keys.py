"""Stack file keys of cluster configuration settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.config.keys import path_of
from trainyard.components.config.problems import ROOT
from trainyard.components.parallelcluster.rendering.head_node import HEAD_NODE_KEYS
from trainyard.components.parallelcluster.rendering.monitoring import MONITORING_KEYS
from trainyard.components.parallelcluster.rendering.queues import COMPUTE_RESOURCE_KEYS, QUEUE_KEYS
from trainyard.components.parallelcluster.rendering.slurm import SLURM_KEYS
from trainyard.components.parallelcluster.storage_settings import STORAGE_KEYS

# Lists with named items; the name follows the list in a path.
_LISTS = frozenset({"SlurmQueues", "ComputeResources", "SharedStorage", "Tags"})


def _under(there: str, here: str, keys: Mapping[str, str]) -> dict[str, str]:
    below = {f"{there}.{theirs}": f"{here}.{ours}" for theirs, ours in keys.items()}
    return {there: here, **below}


_KEYS: Mapping[str, str] = {
    "Image.Os": "architecture.operating_system",
    "Image.CustomAmi": "architecture.custom_ami_id",
    **_under("HeadNode", "architecture.head_node", HEAD_NODE_KEYS),
    "Scheduling.ScalingStrategy": "architecture.slurm.scaling_strategy",
    **_under("Scheduling.SlurmSettings", "architecture.slurm", SLURM_KEYS),
    "Scheduling.SlurmQueues": "architecture.queues",
    **_under("Scheduling.SlurmQueues.*", "architecture.queues.*", QUEUE_KEYS),
    **_under(
        "Scheduling.SlurmQueues.*.ComputeResources.*",
        "architecture.queues.*.compute_resources.*",
        COMPUTE_RESOURCE_KEYS,
    ),
    "Scheduling.SlurmQueues.*.ComputeResources.*.Tags": "monitoring.node_metrics",
    "SharedStorage": "storage",
    **_under("SharedStorage.*", "storage.*", STORAGE_KEYS),
    **_under("Monitoring", "architecture.monitoring", MONITORING_KEYS),
    "Tags": "tags",
    "Tags.*": "tags.*",
}


def stack_key(path: tuple[str, ...]) -> str:
    """Return the stack file key of a setting, or of its nearest parent section.

    Args:
        path: Path of the setting, with item names as separate steps:
            `("Scheduling", "SlurmQueues", "gpu", "CapacityType")`.

    Returns:
        The key in the syntax of `pulumi config set --path`, such as
        `trainyard:cluster.architecture.queues.gpu.purchase_option`.
    """
    if path == ("Region",):
        return "aws:region"
    parts = list(_with_stars(path))
    for length in range(len(parts), 0, -1):
        ours = _KEYS.get(".".join(parts[:length]))
        if ours is not None:
            names = iter([path[n] for n in range(length) if parts[n] == "*"])
            return path_of(tuple(next(names) if key == "*" else key for key in ours.split(".")))
    return ROOT


def _with_stars(path: tuple[str, ...]) -> Iterator[str]:
    for before, part in zip(("", *path), path, strict=False):
        yield "*" if before in _LISTS else part
