"""Charges for volumes and file systems.

Sources:
    https://aws.amazon.com/ebs/pricing/
    https://aws.amazon.com/fsx/lustre/pricing/
    https://aws.amazon.com/fsx/openzfs/pricing/
    https://aws.amazon.com/efs/pricing/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trainyard.components.config.efs import NewEfs
from trainyard.components.config.fsx_lustre import NewFsxLustre
from trainyard.components.config.open_zfs import NewFsxOpenZfs
from trainyard.components.config.shared_ebs import IOPS, NewSharedEbs
from trainyard.components.config.storage import FileSystem
from trainyard.components.cost.item import CostItem, Group, by_use

GP3_IOPS = 3000
"""IOPS that the price of a gp3 volume includes."""
GP3_THROUGHPUT_MIBPS = 125
"""Throughput that the price of a gp3 volume includes, in MiB/s."""
IO2_TIER_IOPS = 32000
"""IOPS of an io2 volume above which they have other prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Volume:
    """The size and the performance of an EBS volume."""

    volume_type: str
    size_gib: int
    iops: int
    """0 for a type without provisioned IOPS."""
    throughput_mibps: int = 0


def volume_items(
    noun: str,
    resource: str,
    volume: Volume,
    *,
    group: Group = "storage",
    count: int = 1,
    most: int = 0,
    in_block: bool = False,
) -> Iterator[CostItem]:
    """Yield the charges of some volumes of one kind.

    Args:
        noun: What they are, such as `root volumes`.
        resource: Their key in the stack file.
        volume: Size and performance of each.
        group: Where they are listed.
        count: Volumes that always exist.
        most: Volumes when jobs have launched all nodes.
        in_block: Whether they are deleted at the end of a Capacity Block.
    """
    kind = volume.volume_type
    paid_iops = {"gp3": volume.iops - GP3_IOPS}.get(kind, volume.iops)
    iops_key = "io2-iops-tiers" if kind == "io2" and paid_iops > IO2_TIER_IOPS else f"{kind}-iops"
    throughput = volume.throughput_mibps - GP3_THROUGHPUT_MIBPS if kind == "gp3" else 0
    for each, size, key, unit in (
        (f"{noun}, {volume.size_gib} GiB {kind}", volume.size_gib, kind, "GiB"),
        (f"{noun}, {volume.iops} IOPS", paid_iops, iops_key, "IOPS"),
        (f"{noun}, {volume.throughput_mibps} MiB/s", throughput, f"{kind}-throughput", "MiB/s"),
    ):
        if size > 0:
            yield CostItem(
                group=group,
                what=each,
                resource=resource,
                key=f"ebs:{key}",
                unit=unit,
                period="month",
                quantity=count * size,
                most=most * size,
                in_block=in_block,
            )


def file_system_items(name: str, wanted: FileSystem) -> Iterator[CostItem]:
    """Yield the charges of an entry of `storage`; none for a file system that already exists."""
    resource = f"storage.{name}"
    if isinstance(wanted, NewFsxLustre):
        yield from _lustre(resource, wanted)
    elif isinstance(wanted, NewEfs):
        yield from _efs(resource, wanted)
    elif isinstance(wanted, NewFsxOpenZfs):
        yield from _open_zfs(resource, wanted)
    elif isinstance(wanted, NewSharedEbs):
        rule = IOPS.get(wanted.volume_type)
        volume = Volume(
            volume_type=wanted.volume_type,
            size_gib=wanted.size_gib,
            iops=wanted.iops or (rule.default if rule else 0),
            throughput_mibps=wanted.throughput_mibps or 0,
        )
        count = wanted.raid.number_of_volumes if wanted.raid else 1
        yield from volume_items("shared volume", resource, volume, count=count)


def _lustre(resource: str, wanted: NewFsxLustre) -> Iterator[CostItem]:
    parts = [wanted.deployment_type]
    if wanted.storage_type == "HDD":
        cached = wanted.drive_cache == "READ"
        parts += ["HDD-cached" if cached else "HDD"]
    if wanted.per_unit_storage_throughput is not None:
        parts.append(str(wanted.per_unit_storage_throughput))
    yield CostItem(
        group="storage",
        what=f"FSx for Lustre, {wanted.storage_capacity_gib} GiB {' '.join(parts)}",
        resource=resource,
        key=f"fsx-lustre:{':'.join(parts)}",
        unit="GiB",
        period="month",
        quantity=wanted.storage_capacity_gib,
    )
    if wanted.metadata_iops is not None:
        yield CostItem(
            group="storage",
            what="metadata IOPS above those that the capacity includes",
            resource=f"{resource}.metadata_iops",
            key="fsx-lustre:metadata-iops",
            unit="IOPS",
            period="month",
            quantity=wanted.metadata_iops,
        )
    if wanted.backup_retention_days:
        yield by_use(
            "storage", "backups", f"{resource}.backup_retention_days", "fsx-lustre:backups", "GB"
        )


def _efs(resource: str, wanted: NewEfs) -> Iterator[CostItem]:
    yield by_use("storage", "EFS, stored data", resource, "efs:storage", "GB and month")
    if wanted.provisioned_throughput_mibps is not None:
        yield CostItem(
            group="storage",
            what=f"EFS, {wanted.provisioned_throughput_mibps} MiB/s provisioned",
            resource=f"{resource}.provisioned_throughput_mibps",
            key="efs:provisioned-throughput",
            unit="MiB/s",
            period="month",
            quantity=wanted.provisioned_throughput_mibps,
        )


def _open_zfs(resource: str, wanted: NewFsxOpenZfs) -> Iterator[CostItem]:
    key = f"fsx-openzfs:{wanted.deployment_type}"
    for what, unit, price_key, quantity in (
        (f"{wanted.storage_capacity_gib} GiB SSD", "GiB", key, wanted.storage_capacity_gib),
        (
            f"{wanted.throughput_capacity_mbps} MB/s",
            "MB/s",
            f"{key}:throughput",
            wanted.throughput_capacity_mbps,
        ),
    ):
        yield CostItem(
            group="storage",
            what=f"FSx for OpenZFS {wanted.deployment_type}, {what}",
            resource=resource,
            key=price_key,
            unit=unit,
            period="month",
            quantity=quantity,
        )
    if wanted.backup_retention_days:
        yield by_use(
            "storage", "backups", f"{resource}.backup_retention_days", "fsx-openzfs:backups", "GB"
        )
