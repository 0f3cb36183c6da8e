"""The test of a stack's accelerators, and the nodes that it runs on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER, JobTest
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.verify.stages import PlannedNodes


class ListedNodes(Protocol):
    """Nodes in the plan that a scheduler chooses for a test."""

    @property
    def accelerators(self) -> Accelerators:
        """The accelerators of each."""
        ...

    @property
    def count(self) -> int:
        """Their number."""
        ...

    @property
    def efa_interfaces(self) -> int:
        """The number of EFA interfaces of each."""
        ...


OwnNodes = TypeVar("OwnNodes")
Listed = TypeVar("Listed", bound=ListedNodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest(Generic[OwnNodes]):
    """A test and its nodes."""

    test: JobTest
    nodes: PlannedNodes
    chosen: OwnNodes
    """The nodes in the plan; None for AWS Batch, which launches them for a job."""


def listed_test(chosen: Listed, pool: NodePoolPlan) -> PlannedTest[Listed]:
    """Return the test of nodes in the plan, which are of a pool."""
    return PlannedTest(
        test=TESTS_BY_MAKER[chosen.accelerators.manufacturer],
        nodes=PlannedNodes(
            instance_type=pool.instance_type.name,
            accelerators=chosen.accelerators,
            count=chosen.count,
            efa_interfaces=chosen.efa_interfaces,
        ),
        chosen=chosen,
    )
