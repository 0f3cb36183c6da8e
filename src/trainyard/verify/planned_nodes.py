"""The test of a stack's accelerators, and the nodes that it runs on."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER, JobTest
from trainyard.jobs.nodes import JobNodes
from trainyard.jobs.slurm.nodes import SlurmNodes
from trainyard.verify.stages import PlannedNodes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A test and its nodes."""

    test: JobTest
    nodes: PlannedNodes
    chosen: JobNodes | SlurmNodes | None
    """The nodes in the plan; None for AWS Batch, which launches them for a job."""


def listed_test(chosen: JobNodes | SlurmNodes) -> PlannedTest:
    """Return the test of nodes in the plan."""
    pool = chosen.group if isinstance(chosen, JobNodes) else chosen.resource
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
