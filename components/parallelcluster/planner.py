"""Plan a ParallelCluster stack, or report every problem of its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from trainyard.components.capacity.reservation_review import review_reservations
from trainyard.components.catalog.versions import PARALLELCLUSTER_VERSION
from trainyard.components.config.fsx_lustre import ExistingFsxLustre
from trainyard.components.config.parallelcluster import Deployment, Monitoring
from trainyard.components.config.problems import Review
from trainyard.components.config.storage import FileSystem
from trainyard.components.monitoring.gpu_errors import TEXT_PATTERN, xid_errors
from trainyard.components.monitoring.lustre import LustreSubject
from trainyard.components.monitoring.node_agent import agent_alerts, agent_sources
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Metric, Sources, Subject
from trainyard.components.monitoring.planner import plan_monitoring
from trainyard.components.monitoring.review import note_node_metrics
from trainyard.components.network.pool_place import review_launch_zones
from trainyard.components.parallelcluster.address_capacity import review_address_capacity
from trainyard.components.parallelcluster.cluster_review import review_cluster
from trainyard.components.parallelcluster.cluster_template import (
    MAXIMUM_TEMPLATE_BYTES,
    cluster_template,
    template_bytes,
)
from trainyard.components.parallelcluster.head_node_plan import plan_head_node, review_head_node
from trainyard.components.parallelcluster.node_metrics import node_agents
from trainyard.components.parallelcluster.plan import (
    DeploymentPlan,
    HeadNodePlan,
    ParallelClusterPlan,
    deployment_stack_name,
)
from trainyard.components.parallelcluster.queue_plan import (
    Context,
    QueuePlan,
    plan_queue,
    review_counts,
    review_queue,
)
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.rendering import render_cluster
from trainyard.components.parallelcluster.slurm_review import review_slurm
from trainyard.components.parallelcluster.storage_plan import SharedStorage, plan_shared_storage
from trainyard.components.tagging import common_tags

_LONGEST_VALUE = 200
"""Characters reserved for each id that is still unknown: more than the ARN of a resource group with
the longest allowed name, 128 characters.
https://docs.aws.amazon.com/ARG/latest/APIReference/API_CreateGroup.html"""


_DYNAMIC = "{{resolve:"
"""Prefix of a dynamic reference, which CloudFormation resolves anywhere in the template.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references.html"""


def review_dynamic_references(plan: ParallelClusterPlan, review: Review) -> None:
    """Refuse values that CloudFormation would replace with a parameter or a secret."""
    found = [text for text in _texts(render_cluster(plan)) if _DYNAMIC in text]
    if not found:
        return
    review.refuse(
        "architecture",
        (
            f"contains `{_DYNAMIC}`: CloudFormation would replace it with a parameter or a secret, "
            "and ParallelCluster would store that in plain text"
        ),
        found=found[0],
        allowed="any other text",
        remedy="read the parameter or the secret on the node, in a script of `custom_actions`",
    )


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        for key, inner in entries.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[object]", value):
            yield from _texts(inner)


def review_template_size(plan: ParallelClusterPlan, review: Review) -> None:
    """Refuse a plan whose cluster configuration is too large for the template."""
    configuration = resolve(render_cluster(plan), _longest)
    size = template_bytes(cluster_template(plan, configuration))
    if size <= MAXIMUM_TEMPLATE_BYTES:
        return
    review.refuse(
        "architecture.queues",
        (
            "make the cluster configuration too large: CloudFormation limits the size of the "
            "template that contains it, and would reject it after all other resources were created"
        ),
        found=f"{size:,} bytes",
        allowed=f"at most {MAXIMUM_TEMPLATE_BYTES:,} bytes",
        remedy=(
            "remove queues or compute resources, or move long `custom_actions` arguments and "
            "`slurm_settings` into one script"
        ),
    )


def _longest(reference: Reference) -> str:
    return "x" * _LONGEST_VALUE


# What ParallelCluster measures of a Slurm cluster.
#
# ParallelCluster's own dashboard shows these metrics; its alarms are for the head node, and send no
# messages.
#
# Source: `_add_custom_health_metrics` in `templates/cw_dashboard_builder.py`,
# `_add_head_node_alarms` in `templates/cluster_stack.py` (aws-parallelcluster 3.16.1) and
# `files/cloudwatch/cloudwatch_agent_config.json` of
# https://github.com/aws/aws-parallelcluster-cookbook, `aws-parallelcluster-environment`: the agent
# on every node sends the messages of the system, among them those of the kernel.


_NAMESPACE = "ParallelCluster"
_FAULTS = {
    "EC2HealthCheckErrors": (
        "nodes-unhealthy",
        "Nodes fail the health checks of EC2; Slurm replaces them.",
    ),
    "NoCorrespondingInstanceErrors": ("nodes-lost", "Nodes have lost their instances."),
    "SlurmNodeNotRespondingErrors": (
        "nodes-silent",
        "Nodes do not respond to Slurm, which sets them to DOWN.",
    ),
    "InsufficientCapacityErrors": (
        "nodes-missing",
        "EC2 does not have the instances for nodes that Slurm wants to start.",
    ),
}
"""Metrics that count nodes, with the names and the messages of their alarms."""
_GPU_CHECK = "GpuHealthCheckFailures"
_SILENT_MINUTES = 10
"""Minutes without a heartbeat, as for the alarm of ParallelCluster."""


def cluster_metrics(
    cluster: str, monitoring: Monitoring, queues: Sequence[QueuePlan]
) -> Sequence[Sources]:
    """Return what a cluster measures with its logs, and with its dashboard, which has the filters.

    Args:
        cluster: Name of the cluster.
        monitoring: `architecture.monitoring` of the stack file.
        queues: The queues, which decide about GPUs and their health checks.
    """
    if not monitoring.logs:
        return ()
    gpus = any(
        pool.instance_type.has_nvidia_gpus for queue in queues for pool in queue.compute_resources
    )
    checked = any(queue.config.gpu_health_check for queue in queues)
    return (
        *([_faults(cluster, checked=checked)] if monitoring.dashboard else []),
        *([_heartbeat(cluster)] if monitoring.alarms else []),
        *([_xid_errors(cluster)] if gpus else []),
    )


def _faults(cluster: str, *, checked: bool) -> Sources:
    faults = dict(_FAULTS)
    if checked:
        faults[_GPU_CHECK] = ("gpus-unhealthy", "Nodes fail the health checks of their GPUs.")
    metrics = {
        name: Metric(
            namespace=_NAMESPACE,
            name=name,
            dimensions={"ClusterName": cluster},
            statistic="Sum",
            label=alarm,
        )
        for name, (alarm, _) in faults.items()
    }
    alarms = tuple(
        AlarmPlan(
            name=alarm,
            description=(
                f"{said} `sinfo -R` on the head node has the reason of each node, and "
                "`./trainyard logs STACK` the messages of clustermgtd."
            ),
            metric=metrics[name],
            comparison="GreaterThanThreshold",
            threshold=0,
        )
        for name, (alarm, said) in faults.items()
    )
    graph = Graph(title="Faults of nodes", metrics=tuple(metrics.values()), unit="in 5 minutes")
    return Sources(graphs=(graph,), alarms=alarms)


def _heartbeat(cluster: str) -> Sources:
    beats = Metric(
        namespace=_NAMESPACE,
        name="ClustermgtdHeartbeat",
        dimensions={
            "ClusterName": cluster,
            "InstanceId": Subject(kind="head-node", name=cluster),
        },
        statistic="Sum",
        label="heartbeats",
        period_seconds=60,
    )
    silent = AlarmPlan(
        name="head-node-silent",
        description=(
            "clustermgtd on the head node, which starts and replaces nodes, has not run for "
            f"{_SILENT_MINUTES} minutes. Jobs continue; no node is started or replaced. "
            "`./trainyard ssm STACK` opens a shell on the head node."
        ),
        metric=beats,
        comparison="LessThanThreshold",
        threshold=1,
        periods=_SILENT_MINUTES,
        missing="breaching",
    )
    return Sources(alarms=(silent,))


def _xid_errors(cluster: str) -> Sources:
    where = "`./trainyard logs STACK` has the line, in a log stream with the name of the node."
    return xid_errors(cluster, Subject(kind="log-group", name=cluster), TEXT_PATTERN, where=where)


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
