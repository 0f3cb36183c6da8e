"""A submission to AWS Batch: the job definition that runs a test, and the number of nodes.

Source:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitJob.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_NodeOverrides.html: to override the
        number of nodes, the definition must have an open-ended node range, as those of this program
        do
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.job_definition_plan import ALL_NODES, PINNED_IMAGES
from trainyard.components.batch.nccl_command import runs_on_all_nodes
from trainyard.components.batch.plan import BatchPlan, JobDefinitionPlan
from trainyard.components.catalog.collective_tests import MAKERS, JobTest
from trainyard.jobs.nodes import JobError


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRequest:
    """The user's options for a job."""

    definition: str | None = None
    """Job definition name in the stack file; None selects the one that runs the test."""
    nodes: int | None = None
    """Number of nodes; None for that of the job definition."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Environment variables that extend or override those of the job definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSubmission:
    """A job that can be submitted to Batch."""

    compute_environment: str
    """Stack file entry of the compute environment that runs the job."""
    nodes: int
    multinode: bool
    """Whether the job is multi-node parallel, so that each node has a separate log."""
    request: Mapping[str, Any]
    """Arguments of `SubmitJob`."""
    secrets: Mapping[str, str]
    """ARNs of the secrets in the job definition, by variable."""

    @property
    def description(self) -> str:
        """The job and its nodes, for messages."""
        nodes = "1 node" if self.nodes == 1 else f"{self.nodes} nodes"
        return f"{self.request['jobName']} on {nodes} of {self.compute_environment}"


def batch_submission(plan: BatchPlan, test: JobTest, asked: BatchRequest) -> BatchSubmission:
    """Return the submission of a test.

    Raises:
        JobError: no job definition runs it, several do, or it has too few nodes.
    """
    definition = _choose_definition(plan, test, asked)
    variables = [{"name": name, "value": value} for name, value in asked.environment.items()]
    container = {"environment": variables} if variables else {}
    nodes = asked.nodes or definition.nodes
    require_nodes(plan, definition, nodes)
    return submission_of(plan, definition, name=test, nodes=nodes, container=container)


def submission_of(
    plan: BatchPlan,
    definition: JobDefinitionPlan,
    *,
    name: str,
    nodes: int,
    container: Mapping[str, Any],
    fields: Mapping[str, Any] = MappingProxyType({}),
) -> BatchSubmission:
    """Return the submission of a job definition.

    Args:
        plan: Plan of the stack.
        definition: The job definition.
        name: Name of the job.
        nodes: Number of nodes that `require_nodes` accepts.
        container: What the job changes in the containers of all nodes.
        fields: Further fields of the request, such as `retryStrategy`; the job definition decides
            those that are left out.
    """
    environment = _environment_of(plan, definition)
    request = {
        "jobName": name,
        "jobQueue": plan.queue_name(environment.name),
        # From `BatchJobDefinition`; a name without revision is the latest revision.
        "jobDefinition": f"{plan.name}-{definition.name}",
        "propagateTags": True,
        **_overrides(definition, nodes, container),
        **fields,
    }
    return BatchSubmission(
        compute_environment=environment.name,
        nodes=nodes,
        multinode=definition.nodes > 1,
        request=request,
        secrets=definition.container.secrets,
    )


def fitting_definitions(plan: BatchPlan, test: JobTest) -> list[JobDefinitionPlan]:
    """Return the job definitions that run a test."""
    return [each for each in plan.job_definitions if _runs(each, test)]


def _choose_definition(plan: BatchPlan, test: JobTest, asked: BatchRequest) -> JobDefinitionPlan:
    fitting = {each.name: each for each in fitting_definitions(plan, test)}
    if not fitting:
        raise JobError(_how_to_define(plan, test))
    if asked.definition is not None:
        if asked.definition not in fitting:
            raise JobError(
                f"{plan.name} has no job definition {asked.definition!r} that runs {test}; there "
                f"is: {', '.join(fitting)}"
            )
        return fitting[asked.definition]
    if len(fitting) > 1 and asked.nodes != 1:
        # A single node does not test the network between nodes.
        several = {name: each for name, each in fitting.items() if each.nodes > 1}
        fitting = several or fitting
    if len(fitting) > 1:
        raise JobError(
            f"{plan.name} has several job definitions that run {test}; name one with --definition: "
            + ", ".join(fitting)
        )
    return next(iter(fitting.values()))


def _runs(definition: JobDefinitionPlan, test: JobTest) -> bool:
    container = definition.container
    if container.image == PINNED_IMAGES[test]:
        return runs_on_all_nodes(container.command)
    # A custom image, whose job is identified as the test by its name.
    return definition.name == test


def _how_to_define(plan: BatchPlan, test: JobTest) -> str:
    environments = [
        each.name
        for each in plan.compute_environments
        if each.instance_type.accelerators
        and each.instance_type.accelerators.manufacturer == MAKERS[test]
    ]
    if not environments:
        return f"{plan.name} has no compute environment with the devices that {test} tests"
    return (
        f"{plan.name} has no job definition that runs {test}; add one to the stack file:\n"
        "    architecture:\n"
        "      job_definitions:\n"
        f"        {test}:\n"
        f"          compute_environment: {environments[0]}\n"
        "          nodes: 2\n"
        f"          image: {test}"
    )


def _environment_of(plan: BatchPlan, definition: JobDefinitionPlan) -> ComputeEnvironmentPlan:
    name = definition.compute_environment
    return next(each for each in plan.compute_environments if each.name == name)


def require_nodes(plan: BatchPlan, definition: JobDefinitionPlan, nodes: int) -> None:
    """Refuse more nodes than a job definition and its compute environment have.

    Raises:
        JobError: it has too few nodes.
    """
    environment = _environment_of(plan, definition)
    if nodes > 1 and definition.nodes == 1:
        raise JobError(
            f"the job definition {definition.name} is for one node, and the job wants {nodes}; "
            "give it `nodes: 2` in the stack file, which makes it multi-node parallel, or name "
            "another one with --definition"
        )
    most = environment.maximum_vcpus // environment.instance_type.vcpus
    if nodes > most:
        raise JobError(
            f"compute environment {environment.name} has at most {most} nodes, and the job wants "
            f"{nodes}: it would wait indefinitely; request fewer with --nodes, or raise `maximum`"
        )


def _overrides(
    definition: JobDefinitionPlan, nodes: int, container: Mapping[str, Any]
) -> dict[str, Any]:
    if definition.nodes == 1:
        return {"containerOverrides": container} if container else {}
    everywhere = [{"targetNodes": ALL_NODES, "containerOverrides": container}]
    return {
        "nodeOverrides": {
            "numNodes": nodes,
            **({"nodePropertyOverrides": everywhere} if container else {}),
        }
    }
