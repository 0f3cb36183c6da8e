"""Valid combinations of capacity, throughput and deployment type of FSx for Lustre.

Source:
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html, StorageCapacity
    https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/getting-started.html, step 1 (with EFA)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

DeploymentType = Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]
StorageType = Literal["SSD", "HDD"]

SMALLEST_GIB = 1200
SSD_STEP_GIB = 2400
SCRATCH_1_STEP_GIB = 3600
HDD_STEP_GIB: Mapping[int, int] = {12: 6000, 40: 1800}
"""Steps of HDD capacity in GiB, by throughput in MB/s/TiB."""
EFA_STEP_GIB: Mapping[int, int] = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}
"""Steps of capacity with EFA in GiB, by throughput in MB/s/TiB."""
METADATA_IOPS_STEP = 12000
METADATA_IOPS_MAXIMUM = 192000
SMALL_METADATA_IOPS = (1500, 3000, 6000)

THROUGHPUTS: Mapping[tuple[DeploymentType, StorageType], tuple[int, ...]] = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""Configurable throughputs in MB/s/TiB; scratch types have a fixed throughput."""


@dataclass(frozen=True, slots=True)
class CapacityRule:
    """Allowed capacities of one combination, in GiB: small sizes, then multiples of a step."""

    small: tuple[int, ...]
    step: int

    def allows(self, capacity: int) -> bool:
        """Return whether the file system can have this capacity."""
        return capacity in self.small or (capacity > 0 and capacity % self.step == 0)

    def nearest(self, capacity: int) -> int:
        """Return the smallest allowed capacity that is at least as large."""
        above = -(-max(capacity, 1) // self.step) * self.step
        return min((size for size in (*self.small, above) if size >= capacity), default=above)

    def __str__(self) -> str:
        """Return the rule in words."""
        multiples = f"multiples of {self.step} GiB"
        return f"{', '.join(map(str, self.small))} or {multiples}" if self.small else multiples


def capacity_rule(
    deployment: DeploymentType, storage: StorageType, throughput: int | None, *, efa: bool
) -> CapacityRule | None:
    """Return the allowed capacities; None if they depend on an invalid throughput."""
    if deployment == "SCRATCH_1":
        return CapacityRule((1200, 2400), SCRATCH_1_STEP_GIB)
    if storage == "HDD":
        step = HDD_STEP_GIB.get(throughput or 0)
        return CapacityRule((), step) if step else None
    if efa:
        step = EFA_STEP_GIB.get(throughput or 0)
        return CapacityRule((), step) if step else None
    return CapacityRule((SMALLEST_GIB,), SSD_STEP_GIB)


def metadata_iops_allowed(iops: int) -> bool:
    """Return whether an SSD file system supports this number of metadata IOPS."""
    large = iops % METADATA_IOPS_STEP == 0 and 0 < iops <= METADATA_IOPS_MAXIMUM
    return iops in SMALL_METADATA_IOPS or large


def is_persistent(deployment: DeploymentType) -> bool:
    """Return whether data survives the loss of a file server."""
    return deployment.startswith("PERSISTENT")
