"""The plan of a network stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkStackPlan:
    """A VPC for other stacks."""

    kind: ClassVar[Literal["network"]] = "network"
    name: str
    region: str
    tags: Mapping[str, str]
    network: NetworkPlan
    """Always a new VPC."""
    efa_security_group: bool
    lustre_security_group: bool
    deletion_protection: bool
    monitoring_plan: None = None
    """A network has neither reservations nor nodes."""
    notes: tuple[str, ...] = ()

    @property
    def node_pools(self) -> tuple[NodePoolPlan, ...]:
        """None: the stack has no nodes."""
        return ()
