"""What an AWS Batch stack adds to the picture of its network."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.config.stack import PlacedStackConfig
from trainyard.topology.box import Box, Parts
from trainyard.topology.node_boxes import nodes_box, placed

ENVIRONMENT = "trainyard:batch:BatchComputeEnvironment"


def batch_parts(config: PlacedStackConfig, plan: BatchPlan) -> Parts:
    """Return the job definitions, the repository and the compute environments with queues."""
    environments = [(each, _environment(each, plan)) for each in plan.compute_environments]
    return Parts(
        services=tuple(_services(plan)),
        occupants=tuple(placed(environments, config.reservations)),
    )


def _environment(environment: ComputeEnvironmentPlan, plan: BatchPlan) -> Box:
    name, queue = plan.queue_name(environment.name), plan.queue_name(environment.pool)
    return nodes_box(
        environment,
        caption="compute environment",
        resource=f"{ENVIRONMENT}::{name}",
        more=(f"job queue {queue}",),
    )


def _services(plan: BatchPlan) -> Iterator[Box]:
    for each in plan.job_definitions:
        nodes = f"{each.nodes} nodes" if each.nodes > 1 else "one node"
        yield Box(
            kind="control-plane",
            title=each.name,
            caption="Batch job definition",
            lines=(f"{nodes} of {each.compute_environment}", each.container.image or "own image"),
            resource=f"trainyard:batch:BatchJobDefinition::{plan.name}-{each.name}",
        )
    if plan.repository:
        yield Box(
            kind="storage",
            title=plan.repository.name,
            caption="ECR repository",
            lines=(f"keeps {plan.repository.kept_images} images",),
            resource=f"trainyard:batch:ContainerRepository::{plan.name}-images",
        )
