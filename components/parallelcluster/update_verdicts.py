"""Whether ParallelCluster accepts a change of a running cluster, and under which condition."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from functools import cache
from pathlib import Path
from typing import Any, cast

from trainyard.components.config.keys import path_of
from trainyard.components.config.problems import ROOT
from trainyard.components.package_data import data_text
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering import (
    COMPUTE_RESOURCE_KEYS,
    HEAD_NODE_KEYS,
    MONITORING_KEYS,
    QUEUE_KEYS,
    SLURM_KEYS,
)
from trainyard.components.parallelcluster.storage_settings import STORAGE_KEYS

# ParallelCluster update policies of each setting.
#
# The table is generated from the schema of ParallelCluster by
# `tools/parallelcluster/update_policies.py`. Meaning of the policies:
# https://docs.aws.amazon.com/parallelcluster/latest/ug/using-pcluster-update-cluster-v3.html


_DATA = Path(__file__).parents[1] / "catalog" / "data"
_TABLE = _DATA / "parallelcluster_update_policies.txt"
_ITEMS = re.compile(r"(?P<key>[^\[]+)\[(?P<name>[^\]]+)\]")


class Policy(StrEnum):
    """When a setting can change, with the policy names of ParallelCluster.

    Source:
        https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/update_policy.py
    """

    IGNORED = "IGNORED"
    """Always; for a section, its settings decide."""
    SUPPORTED = "SUPPORTED"
    SUPPORTED_UNLESS_ADC = "SUPPORTED_UNLESS_ADC"
    """Always, except in the US isolated partitions."""
    QUEUE_UPDATE_STRATEGY = "QUEUE_UPDATE_STRATEGY"
    """In a queue with DRAIN or TERMINATE, otherwise while the compute fleet is stopped."""
    RESIZE_UPDATE_STRATEGY_ON_REMOVE = "RESIZE_UPDATE_STRATEGY_ON_REMOVE"
    """More nodes always; fewer with TERMINATE or while the compute fleet is stopped."""
    MANAGED_PLACEMENT_GROUP = "MANAGED_PLACEMENT_GROUP"
    """As QUEUE_UPDATE_STRATEGY; removing a managed group requires a stopped fleet."""
    MANAGED_FSX = "MANAGED_FSX"
    """Never with a managed Lustre file system; otherwise as QUEUE_UPDATE_STRATEGY."""
    SHARED_STORAGE_UPDATE_POLICY = "SHARED_STORAGE_UPDATE_POLICY"
    """With DRAIN or TERMINATE, while the fleet is stopped, or for existing EFS and FSx."""
    COMPUTE_FLEET_STOP = "COMPUTE_FLEET_STOP"
    COMPUTE_FLEET_STOP_ON_REMOVE = "COMPUTE_FLEET_STOP_ON_REMOVE"
    COMPUTE_AND_LOGIN_NODES_STOP = "COMPUTE_AND_LOGIN_NODES_STOP"
    READ_ONLY_RESOURCE_BUCKET = "READ_ONLY_RESOURCE_BUCKET"
    UNSUPPORTED = "UNSUPPORTED"
    """Never in this cluster."""


@dataclass(slots=True)
class UpdateRule:
    """The update policy of one setting."""

    policy: Policy = Policy.UNSUPPORTED
    """ParallelCluster's policy for settings without an entry."""
    item_name: str | None = None
    """Setting that identifies the items of a list of sections; None otherwise."""
    settings: dict[str, UpdateRule] = field(default_factory=dict[str, "UpdateRule"])
    """Rules of a section's settings; empty for a plain setting."""


@cache
def rules() -> UpdateRule:
    """Return the rules of the cluster configuration."""
    return rules_of(data_text(_TABLE).splitlines())


def rules_of(lines: Iterable[str]) -> UpdateRule:
    """Parse rules from lines such as `Image.Os UNSUPPORTED`."""
    root = UpdateRule()
    for line in lines:
        path, policy = line.split()
        rule = root
        for part in path.split("."):
            items = _ITEMS.fullmatch(part)
            rule = rule.settings.setdefault(items["key"] if items else part, UpdateRule())
            rule.item_name = items["name"] if items else None
        rule.policy = Policy(policy)
    return root


# Comparison of two cluster configurations, as in ParallelCluster.
#
# Source:
#     https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/config_patch.py


Section = Mapping[str, Any]
SettingPath = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed setting, or one added or removed section or list item."""

    path: SettingPath
    """Parent sections: `("Scheduling", "SlurmQueues", "gpu")`. A list item has two steps, the list
    and its name."""
    key: str
    """The setting."""
    old: Any
    """Deployed value, if any."""
    new: Any
    """New value, if any."""
    policy: Policy
    item: str | None = None
    """Name of an added or removed list item, such as a queue."""

    @property
    def is_in_a_queue(self) -> bool:
        """Whether it is in a queue, to which the queue update strategy applies."""
        return "SlurmQueues" in self.path


def changes(deployed: Section, wanted: Section) -> Iterator[Change]:
    """Yield the changes, in the order of ParallelCluster's schema.

    CloudFormation converts numbers and booleans to strings, so `true` and `"true"` are equal here.
    A `Reference` is equal to any deployed value that it can be.
    """
    yield from _in_section(rules(), deployed, wanted, ())


def _in_section(
    rule: UpdateRule, old: Section, new: Section, path: SettingPath
) -> Iterator[Change]:
    for key, setting in rule.settings.items():
        if setting.item_name is not None:
            yield from _in_list(setting, key, old, new, path)
        elif setting.settings:
            yield from _in_nested(setting, key, old.get(key), new.get(key), path)
        elif not same(old.get(key), new.get(key)):
            yield Change(
                path=path, key=key, old=old.get(key), new=new.get(key), policy=setting.policy
            )


def _in_nested(
    rule: UpdateRule, key: str, old: Any, new: Any, path: SettingPath
) -> Iterator[Change]:
    if not old and not new:
        return
    if (old and new) or rule.policy is Policy.IGNORED:
        yield from _in_section(rule, old or {}, new or {}, (*path, key))
        return
    yield Change(path=path, key=key, old=old or None, new=new or None, policy=rule.policy)


def _in_list(
    rule: UpdateRule, key: str, old: Section, new: Section, path: SettingPath
) -> Iterator[Change]:
    name_key = rule.item_name or "Name"
    before = {str(item.get(name_key)): item for item in old.get(key) or ()}
    after = {_item_name(item, name_key, before): item for item in new.get(key) or ()}
    for name in (*after, *(gone for gone in before if gone not in after)):
        if name in before and name in after:
            yield from _in_section(rule, before[name], after[name], (*path, key, name))
        else:
            yield Change(
                path=path,
                key=key,
                old=before.get(name),
                new=after.get(name),
                policy=rule.policy,
                item=name,
            )


def _item_name(item: Section, name_key: str, before: Mapping[str, Section]) -> str:
    """Return the name of a list item, for a `Reference` that of the deployed item it can be."""
    name = item.get(name_key)
    if isinstance(name, Reference):
        return next((each for each, old in before.items() if same(old, item)), name.name)
    return str(name)


def same(old: Any, new: Any) -> bool:
    """Return whether two values are equal after the conversion by CloudFormation."""
    if isinstance(new, Reference):
        return new.can_be(old)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        one, other = cast("Section", old), cast("Section", new)
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if _is_list(old) and _is_list(new):
        return len(old) == len(new) and all(map(same, old, new))
    return scalar(old) == scalar(new)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def scalar(value: Any) -> Any:
    """Return a plain value as CloudFormation passes it: numbers and booleans as strings."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


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


# Whether ParallelCluster accepts a change of a running cluster, and under which condition.
#
# Source:
#     https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/config/update_policy.py


# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/constants.py
_DEFAULT_COUNTS = {"MinCount": 0, "MaxCount": 10}
_EXISTING = ("FileSystemId", "VolumeId", "FileCacheId")
_MOUNTED_LIVE = ("Efs", "FsxLustre", "FsxOntap", "FsxOpenZfs", "FileCache")


class UpdateCondition(Enum):
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


def refused(change: Change, update: Update) -> UpdateCondition | None:
    """Return the condition of a refused change, or None if ParallelCluster accepts it."""
    return _JUDGES[change.policy](change, update)


def _always(_change: Change, _update: Update) -> UpdateCondition | None:
    return None


def _never(_change: Change, _update: Update) -> UpdateCondition | None:
    return UpdateCondition.NONE


def _stop(_change: Change, update: Update) -> UpdateCondition | None:
    return None if update.fleet_stopped else UpdateCondition.STOP


def _stop_on_remove(change: Change, update: Update) -> UpdateCondition | None:
    if change.item and change.old is None and change.is_in_a_queue:
        return None
    return _stop(change, update)


def _queue_update_strategy(change: Change, update: Update) -> UpdateCondition | None:
    if update.fleet_stopped:
        return None
    if not change.is_in_a_queue:
        return UpdateCondition.STOP
    return None if update.has_strategy else UpdateCondition.STOP_OR_STRATEGY


def _resize(change: Change, update: Update) -> UpdateCondition | None:
    if update.fleet_stopped or update.strategy == "TERMINATE":
        return None
    if change.item and change.old is None:
        return None
    if change.key == "MaxCount" and _grows(change) >= 0:
        return None
    if change.key == "MinCount" and _maximum_grows_with(change, update):
        return None
    return UpdateCondition.STOP_OR_TERMINATE


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


def _managed_placement_group(change: Change, update: Update) -> UpdateCondition | None:
    if not update.fleet_stopped and _gives_group_up(change, update):
        return UpdateCondition.STOP
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


def _managed_lustre(change: Change, update: Update) -> UpdateCondition | None:
    if _lustre_made(update.deployed) & _lustre_made(update.wanted):
        return UpdateCondition.WITHOUT_LUSTRE
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


def _shared_storage(change: Change, update: Update) -> UpdateCondition | None:
    if change.item and _is_home(change):
        return UpdateCondition.NONE
    if update.fleet_stopped:
        return None
    if change.item is None:
        # The check of ParallelCluster treats a new mount directory as a section and fails.
        return UpdateCondition.STOP
    return (
        None
        if update.has_strategy or _is_mounted_live(change)
        else UpdateCondition.STOP_OR_STRATEGY
    )


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


_JUDGES: Mapping[Policy, Callable[[Change, Update], UpdateCondition | None]] = {
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
