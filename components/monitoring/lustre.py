"""Graphs and alarms of FSx for Lustre file systems.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/fs-metrics.html
"""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.components.config.monitoring import Alarms
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Metric, Sources, Subject

_FSX = "AWS/FSx"
_GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreSubject:
    """An FSx for Lustre file system whose id is known to the stack."""

    name: str
    """Entry of `storage`."""
    capacity_gib: int | None
    """None if the account was not queried."""
    file_system_id: str | None
    """None if the stack creates it."""


def lustre_metrics(subject: LustreSubject, limits: Alarms) -> Sources:
    """Return the throughput and the free space of a file system.

    Each storage target sends its free space once a minute. The sum over one minute is the free
    space of the file system, the sum over a longer period a multiple of it.
    """
    where = subject.file_system_id or Subject(kind="file-system", name=subject.name)

    def metric(name: str, label: str, *, per_second: bool = False) -> Metric:
        return Metric(
            namespace=_FSX,
            name=name,
            dimensions={"FileSystemId": where},
            statistic="Sum",
            label=label,
            period_seconds=60,
            per_second=per_second,
        )

    free = metric("FreeDataStorageCapacity", "free")
    graphs = (
        Graph(
            title=f"Throughput of {subject.name}",
            metrics=(
                metric("DataReadBytes", "read", per_second=True),
                metric("DataWriteBytes", "written", per_second=True),
            ),
            unit="bytes/s",
        ),
        Graph(title=f"Free space of {subject.name}", metrics=(free,), unit="bytes"),
    )
    if subject.capacity_gib is None:
        return Sources(graphs=graphs)
    used = limits.file_system_used_percent
    full = AlarmPlan(
        name=f"file-system-full-{subject.name}",
        description=(
            f"File system {subject.name} is more than {used} % full. Writes fail when it is full: "
            "delete data, or increase `storage_capacity_gib`."
        ),
        metric=free,
        comparison="LessThanThreshold",
        threshold=subject.capacity_gib * _GIB * (100 - used) / 100,
        periods=5,
    )
    return Sources(graphs=graphs, alarms=(full,))
