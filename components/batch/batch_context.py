"""Values that plans and reviews of a Batch stack share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from components.config.batch import ComputeEnvironment
from components.config.batch_stack import BatchStackConfig
from components.network.network_plan import NetworkPlan
from components.network.pool_place import PoolPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchContext:
    """Values that compute environments and job definitions of a stack share."""

    config: BatchStackConfig
    network: NetworkPlan
    region: str
    now: datetime
    """Timezone-aware."""
    offered_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones of a new VPC that offer an instance type, by type, if the account was queried."""

    def place_of(self, name: str, environment: ComputeEnvironment) -> PoolPlace:
        """Return the settings that decide where the nodes of a compute environment launch."""
        return PoolPlace(
            name=f"compute environment {name}",
            key=f"architecture.compute_environments.{name}",
            pool=environment,
            reservation=self.config.reservations.get(environment.purchase_option),
            network=self.network,
        )
