"""The parts of `verify` for AWS Batch, which launches the nodes of a test for its job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.cli import console
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.collective_tests import TESTS_BY_MAKER
from trainyard.jobs.batch_request import BatchRequest, batch_submission, fitting_definitions
from trainyard.jobs.nodes import JobError
from trainyard.verify.inventory import Inventory, no_inventory
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.stages import PlannedNodes
from trainyard.verify.verified import Verified


def planned_test(
    plan: BatchPlan, *, nodes: int | None, options: Mapping[str, Any]
) -> PlannedTest[None]:
    """Return the test of the accelerators of a stack.

    Raises:
        JobError: no job definition runs it, several do, or it has too few nodes.
    """
    asked = BatchRequest(definition=options.get("--definition"), nodes=nodes)
    by_name = {each.name: each for each in plan.compute_environments}
    accelerated = {
        each.name: each.instance_type.accelerators
        for each in plan.compute_environments
        if each.instance_type.accelerators
    }
    makers = {each.manufacturer for each in accelerated.values()}
    if len(makers) != 1:
        raise JobError(f"{plan.name} has no compute environment with accelerators of one kind")
    test = TESTS_BY_MAKER[makers.pop()]
    submission = batch_submission(plan, test, asked)
    environment = by_name[submission.compute_environment]
    return PlannedTest(
        test=test,
        nodes=PlannedNodes(
            instance_type=environment.instance_type.name,
            accelerators=accelerated[environment.name],
            count=submission.nodes,
            efa_interfaces=environment.interfaces.efa_interfaces if environment.interfaces else 0,
        ),
        chosen=None,
    )


def verifiable_pools(plan: BatchPlan) -> list[Mapping[str, str]]:
    """Return the options that select each job definition with a test."""
    return [{"--definition": name} for name in _definitions(plan)]


def _definitions(plan: BatchPlan) -> list[str]:
    """Return the job definitions that run a test, without those of one node if others do."""
    fitting = [each for test in TESTS_BY_MAKER.values() for each in fitting_definitions(plan, test)]
    several = [each for each in fitting if each.nodes > 1]
    return [each.name for each in several or fitting]


def read_inventory() -> Inventory:
    """Return that there are no nodes before a job."""
    return no_inventory("AWS Batch launches the nodes for a job; there are none before it")


def use_results(result: Verified) -> None:
    """Say what can be done with bad nodes."""
    if not result.passed:
        console.progress(
            "AWS Batch has no nodes that could be labelled or closed to jobs; terminate the "
            "instance of a bad node in EC2, and Batch launches another one"
        )
