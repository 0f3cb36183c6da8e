"""Storage: the entries of `SharedStorage`, and the root volumes of nodes.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.config.node_pool import RootVolume
from trainyard.components.parallelcluster.plan import SharedStoragePlan

_SETTINGS = {
    "Ebs": "EbsSettings",
    "Efs": "EfsSettings",
    "FsxLustre": "FsxLustreSettings",
    "FsxOpenZfs": "FsxOpenZfsSettings",
}
"""Settings section of each `StorageType`."""

ROOT_VOLUME_KEYS: Mapping[str, str] = {
    "RootVolume": "root_volume",
    "RootVolume.Size": "root_volume.size_gib",
    "RootVolume.Iops": "root_volume.iops",
    "RootVolume.Throughput": "root_volume.throughput_mibps",
}
"""Stack file key of each setting of a root volume."""


def render_shared_storage(storage: SharedStoragePlan) -> dict[str, Any]:
    """Return one entry of `SharedStorage`; settings can contain references."""
    entry: dict[str, Any] = {
        "MountDir": storage.mount_directory,
        "Name": storage.name,
        "StorageType": storage.type,
    }
    if storage.settings:
        entry[_SETTINGS[storage.type]] = dict(storage.settings)
    return entry


def render_root_volume(volume: RootVolume) -> dict[str, Any]:
    """Return the settings for head node and compute nodes: gp3, encrypted."""
    return {
        "Size": volume.size_gib,
        "Encrypted": True,
        "VolumeType": "gp3",
        "Iops": volume.iops,
        "Throughput": volume.throughput_mibps,
    }
