"""What ParallelCluster measures of a Slurm cluster.

ParallelCluster's own dashboard shows these metrics; its alarms are for the head node, and send no
messages.

Source: `_add_custom_health_metrics` in `templates/cw_dashboard_builder.py`, `_add_head_node_alarms`
in `templates/cluster_stack.py` (aws-parallelcluster 3.16.1) and
`files/cloudwatch/cloudwatch_agent_config.json` of
https://github.com/aws/aws-parallelcluster-cookbook, `aws-parallelcluster-environment`: the agent on
every node sends the messages of the system, among them those of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.config.parallelcluster import Monitoring
from trainyard.components.monitoring.gpu_errors import TEXT_PATTERN, xid_errors
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Metric, Sources, Subject
from trainyard.components.parallelcluster.queue_plan import QueuePlan

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
