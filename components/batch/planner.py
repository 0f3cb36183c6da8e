"""Plan an AWS Batch stack, or report every problem of its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.components.batch.address_capacity import review_address_capacity
from trainyard.components.batch.compute_environment_plan import (
    ComputeEnvironmentPlan,
    Context,
    plan_compute_environment,
)
from trainyard.components.batch.compute_environment_review import review_compute_environment
from trainyard.components.batch.environment_metrics import environment_metrics, queue_events
from trainyard.components.batch.job_definition_plan import plan_job_definition
from trainyard.components.batch.job_definition_review import review_job_definition
from trainyard.components.batch.job_size_review import review_sizes
from trainyard.components.batch.network_review import review_batch_network, review_public_images
from trainyard.components.batch.plan import BatchPlan, JobDefinitionPlan
from trainyard.components.batch.repository_plan import plan_repository, review_repository
from trainyard.components.checks.derived_names import NODE_ROLE, NamedPart, review_names
from trainyard.components.checks.network_review import review_network, review_without_storage
from trainyard.components.checks.reservation_review import review_reservations
from trainyard.components.checks.tag_review import review_tags
from trainyard.components.config.network import NewVpc
from trainyard.components.config.review import Review
from trainyard.components.monitoring.node_agent import agent_access, agent_alerts, agent_sources
from trainyard.components.monitoring.planner import plan_monitoring
from trainyard.components.monitoring.review import note_node_metrics
from trainyard.components.network.pool_place_review import review_launch_zones
from trainyard.components.tagging import common_tags


def plan_stack(context: Context, review: Review) -> BatchPlan:
    """Return the plan of an AWS Batch stack.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    config = context.config
    _review_stack(context, review)
    environments = _environments(context, review)
    definitions = _definitions(context, review)
    if isinstance(config.network, NewVpc):
        review_public_images(config.network, definitions, context.region, review)
    review.close()
    plan = _plan(context, environments, definitions, review)
    review_address_capacity(plan, review)
    review.close()
    return plan


def _review_stack(context: Context, review: Review) -> None:
    config = context.config
    review_tags(config.tags, review)
    architecture = config.architecture
    with_roles = (
        (
            "compute_environments",
            "compute environment",
            {n: each.pool_named(n) for n, each in architecture.compute_environments.items()},
        ),
        ("job_definitions", "job definition", {n: n for n in architecture.job_definitions}),
    )
    parts = (
        NamedPart(section, noun, name, (NODE_ROLE,), entry)
        for section, noun, entries in with_roles
        for name, entry in entries.items()
    )
    review_names(config, review, parts=parts)
    review_network(config.network, context.region, review)
    if isinstance(config.network, NewVpc):
        review_batch_network(config.network, review, agent=agent_access(config))
    # ParallelCluster also refuses them with Batch (`AwsBatchFsxValidator`): each node would have to
    # mount the file system before its ECS agent starts.
    review_without_storage(
        config,
        review,
        problem="is a file system, which AWS Batch stacks do not support",
        remedy="remove it, and read and write data in S3 from jobs",
    )
    review_reservations(config, context.region, context.now, review)
    review_repository(config, review)


def _environments(context: Context, review: Review) -> list[ComputeEnvironmentPlan]:
    planned: list[ComputeEnvironmentPlan] = []
    for name, environment in context.config.architecture.compute_environments.items():
        review_compute_environment(name, environment, context, review)
        plan = plan_compute_environment(name, environment, context, review)
        if plan is not None:
            planned.append(plan)
    places = (context.place(plan.key) for plan in planned)
    review_launch_zones(places, context, review)
    return planned


def _definitions(context: Context, review: Review) -> list[JobDefinitionPlan]:
    planned: list[JobDefinitionPlan] = []
    for name, definition in context.config.architecture.job_definitions.items():
        review_job_definition(name, definition, context, review)
        plan = plan_job_definition(name, definition, context)
        if plan is not None:
            planned.append(plan)
    review_sizes(planned, review)
    return planned


def _plan(
    context: Context,
    environments: Sequence[ComputeEnvironmentPlan],
    definitions: Sequence[JobDefinitionPlan],
    review: Review,
) -> BatchPlan:
    config = context.config
    note_node_metrics(config, environments, review)
    plan = BatchPlan(
        name=config.name,
        region=context.region,
        tags=common_tags(config.name, config.tags),
        network=context.network,
        compute_environments=tuple(environments),
        job_definitions=tuple(definitions),
        repository=plan_repository(config),
        resource_shares=config.resource_shares(),
    )
    monitoring = plan_monitoring(
        config,
        region=context.region,
        now=context.now,
        pools=environments,
        more=[
            *map(environment_metrics, environments),
            *agent_sources(config, environments),
            queue_events(plan),
        ],
        alerts=agent_alerts(config, environments),
    )
    notes = (*review.notes, *_security_group_note(plan))
    return replace(plan, monitoring_plan=monitoring, notes=notes)


def _security_group_note(plan: BatchPlan) -> list[str]:
    if not plan.jobs_in_default_group:
        return []
    return [
        (
            f"job definition {', '.join(plan.jobs_in_default_group)}: containers of multi-node "
            "parallel jobs use the VPC's default security group, which must allow traffic between "
            "its members"
        )
    ]
