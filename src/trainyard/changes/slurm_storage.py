"""Managed storage that ParallelCluster deletes when its entry is removed from the cluster.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html,
`DeletionPolicy`: whether a removed file system or volume is retained.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

CLUSTER = "Custom::PclusterCluster"
_SETTINGS = (
    "EbsSettings",
    "EfsSettings",
    "FsxLustreSettings",
    "FsxOpenZfsSettings",
    "FsxOntapSettings",
)
_EXISTING = ("VolumeId", "FileSystemId", "FileCacheId")


def deleted_storage(old: Any, new: Any) -> dict[str, str]:
    """Return the storage that an update of the CloudFormation stack deletes: types by name.

    `old` and `new` are template bodies as text; an unknown template deletes nothing.
    """
    before, after = _made(old), _made(new)
    if after is None or before is None:
        return {}
    gone = {name: entry for name, entry in before.items() if name not in after}
    return {name: entry["StorageType"] for name, entry in gone.items() if _goes(entry)}


def cluster_configurations(template: Any) -> list[Mapping[str, Any]] | None:
    """Return the configurations of a template's clusters; None if this is not a template."""
    try:
        resources = json.loads(template)["Resources"].values()
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
    clusters = (each["Properties"] for each in resources if each.get("Type") == CLUSTER)
    return [cluster["ClusterConfiguration"] for cluster in clusters]


def _goes(entry: Mapping[str, Any]) -> bool:
    # The default of ParallelCluster is Delete.
    return _settings(entry).get("DeletionPolicy", "Delete") == "Delete"


def _made(template: Any) -> dict[str, Mapping[str, Any]] | None:
    """Return the managed storage entries by name; None if this is not a template."""
    clusters = cluster_configurations(template)
    if clusters is None:
        return None
    storage = [entry for cluster in clusters for entry in cluster.get("SharedStorage") or ()]
    return {entry["Name"]: entry for entry in storage if not _is_existing(entry)}


def _is_existing(entry: Mapping[str, Any]) -> bool:
    return any(key in _settings(entry) for key in _EXISTING)


def _settings(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((entry[key] for key in _SETTINGS if key in entry), {})
