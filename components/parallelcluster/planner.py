"""Plan a ParallelCluster stack, or report every problem of its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.checks.reservation_review import review_reservations
from trainyard.components.config.fsx_lustre import ExistingFsxLustre
from trainyard.components.config.parallelcluster import Deployment
from trainyard.components.config.review import Review
from trainyard.components.config.storage import FileSystem
from trainyard.components.monitoring.lustre import LustreSubject
from trainyard.components.monitoring.node_agent import agent_alerts, agent_sources
from trainyard.components.monitoring.planner import plan_monitoring
from trainyard.components.monitoring.review import note_node_metrics
from trainyard.components.network.pool_place_review import review_launch_zones
from trainyard.components.parallelcluster.address_capacity import review_address_capacity
from trainyard.components.parallelcluster.cluster_metrics import cluster_metrics
from trainyard.components.parallelcluster.cluster_review import review_cluster
from trainyard.components.parallelcluster.head_node_plan import plan_head_node
from trainyard.components.parallelcluster.head_node_review import review_head_node
from trainyard.components.parallelcluster.node_metrics import node_agents
from trainyard.components.parallelcluster.plan import (
    DeploymentPlan,
    HeadNodePlan,
    ParallelClusterPlan,
    deployment_stack_name,
)
from trainyard.components.parallelcluster.queue_context import Context
from trainyard.components.parallelcluster.queue_plan import QueuePlan, plan_queue
from trainyard.components.parallelcluster.queue_review import review_counts, review_queue
from trainyard.components.parallelcluster.slurm_review import review_slurm
from trainyard.components.parallelcluster.storage_plan import SharedStorage, plan_shared_storage
from trainyard.components.parallelcluster.template_review import (
    review_dynamic_references,
    review_template_size,
)
from trainyard.components.tagging import common_tags


def plan_stack(context: Context, review: Review) -> ParallelClusterPlan:
    """Return the plan of a ParallelCluster stack.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    _review(context, review)
    head_node = plan_head_node(context)
    queues = _queues(context, review)
    storage = _storage(context, head_node, review)
    review.close()
    plan = _plan(context, head_node, queues, storage, review)
    review_address_capacity(plan, review)
    review_template_size(plan, review)
    review_dynamic_references(plan, review)
    review.close()
    return plan


def _review(context: Context, review: Review) -> None:
    config = context.config
    review_cluster(config, context.region, context.now, review)
    review_reservations(config, context.region, context.now, review)
    review_head_node(context, review)
    review_counts(config.architecture, review)
    for name, queue in config.architecture.queues.items():
        review_queue(name, queue, context, review)
    review_launch_zones(context.places().values(), context, review)
    review_slurm(config.architecture.slurm, review)


def _queues(context: Context, review: Review) -> list[QueuePlan]:
    queues = context.config.architecture.queues.items()
    planned = [plan_queue(name, queue, context, review) for name, queue in queues]
    return [queue for queue in planned if queue is not None]


def _storage(context: Context, head_node: HeadNodePlan, review: Review) -> SharedStorage:
    subnets = (subnet for place in context.places().values() for subnet in place.subnets)
    return plan_shared_storage(
        context.config,
        context.network,
        queue_subnets=tuple(dict.fromkeys(subnets)),
        head_subnets=head_node.subnets,
        review=review,
        subnets_known=context.subnets_known,
    )


def _plan(
    context: Context,
    head_node: HeadNodePlan,
    queues: Sequence[QueuePlan],
    storage: SharedStorage,
    review: Review,
) -> ParallelClusterPlan:
    config, architecture = context.config, context.config.architecture
    pools = [each for queue in queues for each in queue.compute_resources]
    note_node_metrics(config, pools, review)
    return ParallelClusterPlan(
        name=config.name,
        region=context.region,
        tags=common_tags(config.name, config.tags),
        network=context.network,
        version=PARALLELCLUSTER_VERSION,
        operating_system=architecture.operating_system,
        custom_ami_id=architecture.custom_ami_id,
        head_node=head_node,
        queues=tuple(queues),
        slurm=architecture.slurm,
        shared_storage=storage.entries,
        open_zfs=storage.open_zfs,
        monitoring=architecture.monitoring,
        deployment=_deployment(config.name, architecture.deployment, context.region),
        resource_shares=config.resource_shares(),
        monitoring_plan=plan_monitoring(
            config,
            region=context.region,
            now=context.now,
            pools=pools,
            file_systems=tuple(_lustre(config.storage)),
            more=[
                *cluster_metrics(config.name, architecture.monitoring, queues),
                *agent_sources(config, pools),
            ],
            agents=node_agents(config, pools),
            alerts=agent_alerts(config, pools),
        ),
        notes=tuple(review.notes),
    )


def _lustre(storage: Mapping[str, FileSystem]) -> Iterator[LustreSubject]:
    """Yield the existing file systems; only ParallelCluster knows the ids of those it creates."""
    for name, wanted in storage.items():
        if isinstance(wanted, ExistingFsxLustre):
            yield LustreSubject(
                name=name,
                capacity_gib=wanted.storage_capacity_gib,
                file_system_id=wanted.file_system_id,
            )


def _deployment(name: str, deployment: Deployment, region: str) -> DeploymentPlan:
    return DeploymentPlan(
        stack_name=deployment_stack_name(name),
        provider_template_url=deployment.provider_template_url or provider_template_url(region),
        provider_service_token=deployment.provider_service_token,
        suppress_validators=deployment.suppress_validators,
        deletion_policy="Retain" if deployment.deletion_policy == "retain" else "Delete",
        timeout_minutes=deployment.timeout_minutes,
    )


def provider_template_url(region: str) -> str:
    """Return the template URL of the pinned ParallelCluster provider stack in a region.

    https://docs.aws.amazon.com/parallelcluster/latest/ug/tutorials_09_cfn-custom-resource-v3.html
    """
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return (
        f"https://{region}-aws-parallelcluster.s3.{region}.{suffix}/parallelcluster/"
        f"{PARALLELCLUSTER_VERSION}/templates/custom_resource/cluster.yaml"
    )
