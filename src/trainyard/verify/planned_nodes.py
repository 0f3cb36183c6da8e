"""The test of a stack's accelerators, and the nodes that it runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER, JobTest
from trainyard.components.eks.plan import EksPlan
from trainyard.components.network_stack.plan import NetworkStackPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.batch_request import BatchRequest, batch_submission, fitting_definitions
from trainyard.jobs.nodes import JobError, JobNodes, JobRequest, choose_nodes
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest, choose_slurm_nodes, with_devices
from trainyard.verify.stages import PlannedNodes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTest:
    """A test and its nodes."""

    test: JobTest
    nodes: PlannedNodes
    chosen: JobNodes | SlurmNodes | None
    """The nodes in the plan; None for AWS Batch, which launches them for a job."""


def planned_test(
    plan: EksPlan | ParallelClusterPlan | BatchPlan,
    *,
    nodes: int | None,
    options: Mapping[str, Any],
) -> PlannedTest:
    """Return the test of the accelerators of a stack.

    Args:
        plan: Plan of the stack.
        nodes: Number of nodes; None for the default of the job.
        options: `--group`, `--queue`, `--compute-resource` and `--definition`; None if not given.

    Raises:
        JobError: the stack has no such nodes, several that match, or too few.
    """
    if isinstance(plan, BatchPlan):
        return _batch(plan, BatchRequest(definition=options.get("--definition"), nodes=nodes))
    if isinstance(plan, EksPlan):
        request = JobRequest(group=options.get("--group"), nodes=nodes)
        return _listed(choose_nodes(plan, None, request))
    slurm = SlurmRequest(
        queue=options.get("--queue"),
        compute_resource=options.get("--compute-resource"),
        nodes=nodes,
    )
    return _listed(choose_slurm_nodes(plan, None, slurm))


def verifiable_pools(
    plan: EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan,
) -> list[Mapping[str, str]]:
    """Return the options of a verification for each pool of nodes with accelerators.

    EKS node groups that are empty now have no nodes to test; Slurm and Batch launch nodes for a
    job.
    """
    if isinstance(plan, EksPlan):
        return [
            {"--group": group.name}
            for group in plan.node_groups
            if group.instance_type.accelerators and group.schedule.desired
        ]
    if isinstance(plan, ParallelClusterPlan):
        return [
            {"--queue": queue.name, "--compute-resource": resource.name}
            for queue, resource in with_devices(plan, None)
        ]
    if isinstance(plan, BatchPlan):
        return [{"--definition": name} for name in _definitions(plan)]
    return []


def _definitions(plan: BatchPlan) -> list[str]:
    """Return the job definitions that run a test, without those of one node if others do."""
    fitting = [each for test in TESTS_BY_MAKER.values() for each in fitting_definitions(plan, test)]
    several = [each for each in fitting if each.nodes > 1]
    return [each.name for each in several or fitting]


def _listed(chosen: JobNodes | SlurmNodes) -> PlannedTest:
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


def _batch(plan: BatchPlan, asked: BatchRequest) -> PlannedTest:
    by_name = {each.name: each for each in plan.compute_environments}
    makers = {
        each.instance_type.accelerators.manufacturer
        for each in plan.compute_environments
        if each.instance_type.accelerators
    }
    if len(makers) != 1:
        raise JobError(f"{plan.name} has no compute environment with accelerators of one kind")
    test = TESTS_BY_MAKER[makers.pop()]
    submission = batch_submission(plan, test, asked)
    environment = by_name[submission.compute_environment]
    accelerators = environment.instance_type.accelerators
    assert accelerators is not None  # noqa: S101 - the test runs on no other environment
    return PlannedTest(
        test=test,
        nodes=PlannedNodes(
            instance_type=environment.instance_type.name,
            accelerators=accelerators,
            count=submission.nodes,
            efa_interfaces=environment.interfaces.efa_interfaces if environment.interfaces else 0,
        ),
        chosen=None,
    )
