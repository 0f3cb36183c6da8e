"""Whether ParallelCluster accepts a change of a running cluster, and under which condition.

Source:
    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/update_policy.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from trainyard.components.parallelcluster.update_changes import Change, Section, scalar
from trainyard.components.parallelcluster.update_rules import Policy

# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/constants.py
_DEFAULT_COUNTS = {"MinCount": 0, "MaxCount": 10}
_EXISTING = ("FileSystemId", "VolumeId", "FileCacheId")
_MOUNTED_LIVE = ("Efs", "FsxLustre", "FsxOntap", "FsxOpenZfs", "FileCache")


class Way(Enum):
    """Condition under which ParallelCluster accepts a refused change."""

    NONE = auto()
    """None: the setting cannot change."""
    STOP = auto()
    """A stopped compute fleet."""
    STOP_OR_TERMINATE = auto()
    """A stopped compute fleet, or the queue update strategy TERMINATE."""
    STOP_OR_STRATEGY = auto()
    """A stopped compute fleet, or the queue update strategy DRAIN or TERMINATE."""
    WITHOUT_LUSTRE = auto()
    """A cluster without a Lustre file system managed by ParallelCluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Properties of an update that affect the verdict on a change."""

    deployed: Section
    wanted: Section
    changes: Sequence[Change]
    fleet_stopped: bool

    @property
    def strategy(self) -> str:
        """`QueueUpdateStrategy` of the update."""
        settings = self.wanted["Scheduling"].get("SlurmSettings") or {}
        return settings.get("QueueUpdateStrategy", "COMPUTE_FLEET_STOP")

    @property
    def has_strategy(self) -> bool:
        """Whether the update can change nodes while the fleet runs."""
        return self.strategy != "COMPUTE_FLEET_STOP"


def refused(change: Change, update: Update) -> Way | None:
    """Return the condition of a refused change, or None if ParallelCluster accepts it."""
    return _JUDGES[change.policy](change, update)


def _always(_change: Change, _update: Update) -> Way | None:
    return None


def _never(_change: Change, _update: Update) -> Way | None:
    return Way.NONE


def _stop(_change: Change, update: Update) -> Way | None:
    return None if update.fleet_stopped else Way.STOP


def _stop_on_remove(change: Change, update: Update) -> Way | None:
    if change.item and change.old is None and change.is_in_a_queue:
        return None
    return _stop(change, update)


def _queue_update_strategy(change: Change, update: Update) -> Way | None:
    if update.fleet_stopped:
        return None
    if not change.is_in_a_queue:
        return Way.STOP
    return None if update.has_strategy else Way.STOP_OR_STRATEGY


def _resize(change: Change, update: Update) -> Way | None:
    if update.fleet_stopped or update.strategy == "TERMINATE":
        return None
    if change.item and change.old is None:
        return None
    if change.key == "MaxCount" and _grows(change) >= 0:
        return None
    if change.key == "MinCount" and _maximum_grows_with(change, update):
        return None
    return Way.STOP_OR_TERMINATE


def _grows(change: Change) -> int:
    """Return the increase of `MinCount` or `MaxCount`."""
    default = _DEFAULT_COUNTS[change.key]
    old, new = (default if value is None else int(value) for value in (change.old, change.new))
    return new - old


def _maximum_grows_with(change: Change, update: Update) -> bool:
    """Return whether the maximum grows at least as much as the minimum.

    Otherwise dynamic nodes become static nodes, with other names.
    """
    return any(
        other.key == "MaxCount" and other.path == change.path and _grows(other) >= _grows(change)
        for other in update.changes
    )


def _managed_placement_group(change: Change, update: Update) -> Way | None:
    if not update.fleet_stopped and _gives_group_up(change, update):
        return Way.STOP
    return _queue_update_strategy(change, update)


def _gives_group_up(change: Change, update: Update) -> bool:
    """Return whether nodes leave a managed placement group, which would be deleted.

    The ParallelCluster CLI reads booleans, but the custom resource reads strings, where `"false"`
    counts as true. A change is refused if either refuses it.
    """
    old, new = (_placement_group(change, config) for config in (update.deployed, update.wanted))
    readings: tuple[Callable[[Any], bool], ...] = (
        lambda enabled: scalar(enabled) == "true",
        lambda enabled: bool(scalar(enabled)),
    )
    return any(_is_managed(old, reads) and not _is_managed(new, reads) for reads in readings)


def _is_managed(group: Section, enabled: Callable[[Any], bool]) -> bool:
    return enabled(group.get("Enabled")) and not (group.get("Name") or group.get("Id"))


def _placement_group(change: Change, config: Section) -> Section:
    """Return the placement group of the nodes that a change affects."""
    names = dict(zip(change.path[:-1], change.path[1:], strict=True))
    queue = _item(config["Scheduling"], "SlurmQueues", names)
    resource = _item(queue, "ComputeResources", names)
    found = [(each.get("Networking") or {}).get("PlacementGroup") for each in (resource, queue)]
    return next(filter(None, found), {})


def _item(section: Section, key: str, names: Mapping[str, str]) -> Section:
    items = section.get(key) or ()
    return next((item for item in items if item.get("Name") == names.get(key)), {})


def _managed_lustre(change: Change, update: Update) -> Way | None:
    if _lustre_made(update.deployed) & _lustre_made(update.wanted):
        return Way.WITHOUT_LUSTRE
    kept = isinstance(change.old, list) and all(each in (change.new or ()) for each in change.old)
    return None if kept else _queue_update_strategy(change, update)


def _lustre_made(config: Section) -> set[str]:
    """Return the names of the Lustre file systems that ParallelCluster manages."""
    return {
        storage["Name"]
        for storage in config.get("SharedStorage") or ()
        if storage["StorageType"] == "FsxLustre"
        and "FileSystemId" not in (storage.get("FsxLustreSettings") or {})
    }


def _shared_storage(change: Change, update: Update) -> Way | None:
    if change.item and _is_home(change):
        return Way.NONE
    if update.fleet_stopped:
        return None
    if change.item is None:
        # The check of ParallelCluster treats a new mount directory as a section and fails.
        return Way.STOP
    return None if update.has_strategy or _is_mounted_live(change) else Way.STOP_OR_STRATEGY


def _is_home(change: Change) -> bool:
    return any(
        storage and storage["MountDir"].strip("/") == "home" for storage in (change.old, change.new)
    )


def _is_mounted_live(change: Change) -> bool:
    """Return whether running nodes can mount or unmount it."""
    storage = change.new or change.old
    settings = storage.get(f"{storage.get('StorageType')}Settings") or {}
    existing = any(key in settings for key in _EXISTING)
    return existing and storage["StorageType"] in _MOUNTED_LIVE


_JUDGES: Mapping[Policy, Callable[[Change, Update], Way | None]] = {
    Policy.IGNORED: _always,
    Policy.SUPPORTED: _always,
    # These partitions offer no instance type in the catalog.
    Policy.SUPPORTED_UNLESS_ADC: _always,
    Policy.QUEUE_UPDATE_STRATEGY: _queue_update_strategy,
    Policy.RESIZE_UPDATE_STRATEGY_ON_REMOVE: _resize,
    Policy.MANAGED_PLACEMENT_GROUP: _managed_placement_group,
    Policy.MANAGED_FSX: _managed_lustre,
    Policy.SHARED_STORAGE_UPDATE_POLICY: _shared_storage,
    Policy.COMPUTE_FLEET_STOP: _stop,
    Policy.COMPUTE_FLEET_STOP_ON_REMOVE: _stop_on_remove,
    # The program creates no login nodes.
    Policy.COMPUTE_AND_LOGIN_NODES_STOP: _stop,
    Policy.READ_ONLY_RESOURCE_BUCKET: _never,
    Policy.UNSUPPORTED: _never,
}
