"""What `verify` must find, and whether nodes must pass it before jobs run on them."""

from typing import Annotated

from pydantic import Field

from trainyard.components.config.base import InstanceTypeName, StrictModel

BusBandwidth = Annotated[int, Field(ge=1, le=10_000)]


class Verification(StrictModel):
    """Settings of `verify`."""

    required: bool = False
    """EKS: whether nodes with accelerators are tainted (`trainyard.dev/unverified`) when they join
    the cluster, so that no job runs on them until `verify` passes. Changing it replaces the nodes
    of managed node groups; self-managed node groups use it for new nodes."""
    minimum_bus_bandwidth_gb_per_second: dict[InstanceTypeName, BusBandwidth] = Field(
        default_factory=dict
    )
    """Lowest bus bandwidth of the largest message between nodes, by instance type. The unit is that
    of nccl-tests, GB/s (10^9 bytes), not Gbit/s. If omitted for a type, the published threshold
    applies, if there is one. `verify --minimum-bandwidth` overrides it."""
