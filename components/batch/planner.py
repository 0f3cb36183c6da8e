"""Plan an AWS Batch stack, or report every problem of its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.components.batch.address_capacity import review_address_capacity
from trainyard.components.batch.compute_environment_plan import (
    ComputeEnvironmentPlan,
    Context,
    plan_compute_environment,
    review_compute_environment,
)
from trainyard.components.batch.job_definition_plan import (
    plan_job_definition,
    review_job_definition,
    review_sizes,
)
from trainyard.components.batch.plan import BatchPlan, JobDefinitionPlan
from trainyard.components.batch.repository_plan import plan_repository, review_repository
from trainyard.components.capacity.reservation_review import review_reservations
from trainyard.components.catalog.batch import ENDPOINTS_WITHOUT_NAT, comes_through_endpoints
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import Review
from trainyard.components.config.stack_review import review_tags
from trainyard.components.monitoring.node_agent import (
    AgentAccess,
    agent_access,
    agent_alerts,
    agent_sources,
)
from trainyard.components.monitoring.plan import EventPlan, Graph, Metric, Sources, Subject
from trainyard.components.monitoring.planner import plan_monitoring
from trainyard.components.monitoring.review import note_node_metrics
from trainyard.components.named.derived_names import NODE_ROLE, NamedPart, review_names
from trainyard.components.network.network_plan import nat_gateway_command
from trainyard.components.network.pool_place import review_launch_zones
from trainyard.components.network.vpc_review import review_network, review_without_storage
from trainyard.components.tagging import common_tags

# Checks of a new VPC without a NAT gateway for nodes and jobs.
#
# Source: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html and
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html: image layers of ECR are
# in S3, and public.ecr.aws has no endpoint.


def review_batch_network(network: NewVpc, review: Review, *, agent: AgentAccess | None) -> None:
    """Record endpoints that nodes need in a new VPC without a NAT gateway.

    Args:
        network: The network.
        review: Records the problems.
        agent: What the CloudWatch agent of the nodes needs, if it sends metrics.
    """
    metrics = (agent.endpoint,) if agent else ()
    if network.nat_gateways != "none":
        return
    for key, given, needed in (
        ("interface_endpoints", network.interface_endpoints, (*ENDPOINTS_WITHOUT_NAT, *metrics)),
        ("gateway_endpoints", network.gateway_endpoints, ("s3",)),
    ):
        missing = [name for name in needed if name not in given]
        if missing:
            review.refuse(
                f"network.{key}",
                "lacks services that nodes need to run jobs if `nat_gateways` is none",
                found=", ".join(given) or "none",
                allowed=f"also {', '.join(missing)}",
                remedy=(
                    f"add {', '.join(missing)} to `network.{key}`, or "
                    f"{nat_gateway_command(network, review)}"
                ),
            )


def review_public_images(
    network: NewVpc, definitions: Sequence[JobDefinitionPlan], region: str, review: Review
) -> None:
    """Refuse jobs whose image the nodes cannot pull."""
    if network.nat_gateways != "none":
        return
    for definition in definitions:
        image = definition.container.image
        if image is not None and not comes_through_endpoints(image, region):
            review.refuse(
                f"architecture.job_definitions.{definition.name}.image",
                (
                    f"is not in a private ECR registry in {region}, and nodes cannot reach it if "
                    "`nat_gateways` is none"
                ),
                found=image,
                allowed=f"repository, or an image in a private registry of ECR in {region}",
                remedy=(
                    "push a copy to the stack's own repository and set `image: repository`, or "
                    f"{nat_gateway_command(network, review)}"
                ),
            )


# What Amazon ECS and AWS Batch report of the compute environments and queues of a stack.
#
# ECS sends the metrics of the cluster that Batch makes for a compute environment, while tasks run.
#
# Sources:
#     https://docs.aws.amazon.com/AmazonECS/latest/developerguide/available-metrics.html
#     https://docs.aws.amazon.com/batch/latest/userguide/batch-job-queue-blocked-events.html


def environment_metrics(environment: ComputeEnvironmentPlan) -> Sources:
    """Return the graph of what the jobs of a compute environment use of its nodes."""
    gpus = {"GPUReservation": "GPUs of jobs"} if environment.instance_type.has_nvidia_gpus else {}
    used = {**gpus, "CPUUtilization": "CPU", "MemoryUtilization": "memory"}
    metrics = tuple(
        Metric(
            namespace="AWS/ECS",
            name=name,
            dimensions={"ClusterName": Subject(kind="ecs-cluster", name=environment.name)},
            statistic="Average",
            label=label,
        )
        for name, label in used.items()
    )
    graph = Graph(title=f"Use of {environment.name}", metrics=metrics, unit="percent")
    return Sources(graphs=(graph,))


def queue_events(plan: BatchPlan) -> Sources:
    """Return the event that Batch sends when the first job of a queue cannot start."""
    blocked = EventPlan(
        name="queue-blocked",
        description=f"The first job of a queue of {plan.name} cannot start",
        pattern={
            "source": ["aws.batch"],
            "detail-type": ["Batch Job Queue Blocked"],
            "detail": {
                "jobQueue": [{"suffix": f":job-queue/{queue}"} for queue in plan.queue_names]
            },
        },
    )
    return Sources(events=(blocked,))


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
