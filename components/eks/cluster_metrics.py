"""What CloudWatch and the exporters measure of an EKS cluster, and alarms on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from trainyard.components.config.monitoring import Alarms
from trainyard.components.eks.addons import efa_exporter, neuron_monitor
from trainyard.components.eks.addons.addon import has_accelerators
from trainyard.components.eks.addons.eks_managed import container_insights_log_group
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.monitoring.accelerators import (
    EFA_IMPAIRED,
    EFA_UNRESPONSIVE,
    Agent,
    GpuMetrics,
    efa_sources,
    gpu_sources,
    idle_alarm,
)
from trainyard.components.monitoring.alert_rules import (
    CLUSTER_LABEL,
    WINDOW,
    AlertPlan,
    alert,
    highest,
)
from trainyard.components.monitoring.gpu_errors import (
    FATAL_XIDS,
    JSON_PATTERN,
    XID_ALARM,
    xid_description,
    xid_errors,
)
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Metric, Sources, Subject

# What the CloudWatch Observability add-on measures on the nodes of an EKS cluster.
#
# Sources:
#     https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/container-insights-eks-classic-metrics.html
#     https://github.com/aws/amazon-cloudwatch-agent-test: the metrics that the agent sends with
#     the
#         dimension `ClusterName` alone (`test/gpu`, `test/efa`, `test/awsneuron`). EFA
#         counters are the increase since the previous measurement.
#     https://github.com/aws-observability/helm-charts, `containerLogs.fluentBit` in the values
#     of the
#         chart: Fluent Bit sends a kernel message as the field `message` of a JSON object,
#         once with all kernel messages (`dmesg`) and once with all messages of the system
#         (`messages`).


_NAMESPACE = "ContainerInsights"
_GPU_METRICS = GpuMetrics(
    utilization="node_gpu_utilization",
    temperature="node_gpu_temperature",
    power="node_gpu_power_draw",
    memory="node_gpu_memory_utilization",
    memory_unit="percent",
)


def container_insights(cluster: str, groups: Sequence[NodeGroupPlan], limits: Alarms) -> Sources:
    """Return the graphs and alarms of a cluster with the add-on.

    Args:
        cluster: Name of the cluster.
        groups: Its node groups, which decide about GPUs, Neuron devices and EFA.
        limits: When alarms go off.
    """
    agent = Agent(namespace=_NAMESPACE, dimensions={"ClusterName": cluster})
    parts = [_nodes(agent, cluster)]
    if any(map(has_accelerators("nvidia"), groups)):
        parts.extend((gpu_sources(agent, _GPU_METRICS, limits), _xid_errors(cluster)))
    if any(map(has_accelerators("neuron"), groups)):
        parts.append(_neuron(agent, limits))
    if any(group.interfaces for group in groups):
        parts.append(efa_sources(agent, "node_efa_"))
    return Sources(
        graphs=tuple(graph for part in parts for graph in part.graphs),
        alarms=tuple(alarm for part in parts for alarm in part.alarms),
        log_metrics=tuple(each for part in parts for each in part.log_metrics),
    )


def _nodes(agent: Agent, cluster: str) -> Sources:
    failed = agent.metric("cluster_failed_node_count", "Maximum", "failed")
    return Sources(
        graphs=(
            Graph(
                title="Nodes",
                metrics=(agent.metric("cluster_node_count", "Maximum", "all"), failed),
                unit="nodes",
            ),
        ),
        alarms=(
            AlarmPlan(
                name="nodes-failed",
                description=(
                    f"Nodes of {cluster} are not ready or report a fault. `kubectl get nodes` "
                    "names them and `kubectl describe node` has the reason."
                ),
                metric=failed,
                comparison="GreaterThanThreshold",
                threshold=0,
                periods=2,
            ),
        ),
    )


def _xid_errors(cluster: str) -> Sources:
    logs = container_insights_log_group(cluster, "host")
    where = f"The log group {logs} has the line, in a log stream with the name of the node."
    return xid_errors(cluster, logs, JSON_PATTERN, where=where)


def _neuron(agent: Agent, limits: Alarms) -> Sources:
    busiest = agent.metric("node_neuroncore_utilization", "Maximum", "busiest")
    ecc = agent.metric("node_neurondevice_hw_ecc_events_total", "Maximum", "ECC events")
    return Sources(
        graphs=(
            Graph(
                title="NeuronCore utilization",
                metrics=(
                    agent.metric("node_neuroncore_utilization", "Average", "average"),
                    busiest,
                ),
                unit="percent",
            ),
            Graph(
                title="NeuronCore memory",
                metrics=(agent.metric("node_neuroncore_memory_usage_total", "Average", "average"),),
                unit="bytes",
            ),
            Graph(title="ECC events of Neuron devices", metrics=(ecc,), unit="events"),
        ),
        alarms=(idle_alarm("neuron-cores-idle", "NeuronCore", busiest, limits),),
    )


# The alarms of nodes of an EKS cluster, on what the exporters of Prometheus measure.
#
# Container Insights decides which alarms exist. Here is what they read instead of its metrics.
#
# Sources:
#     https://github.com/NVIDIA/dcgm-exporter, `etc/default-counters.csv` of the pinned version,
#     and
#         `internal/pkg/collector/gpu_collector.go`: the label `err_code` of the last Xid
#         error
#     https://github.com/kubernetes/kube-state-metrics, `docs/metrics/cluster/node-metrics.md`
#     `neuron-monitor-prometheus.py` of the package aws-neuronx-tools, and its dashboard
#         https://github.com/aws-neuron/aws-neuron-sdk, `src/examples/neuron-monitor`:
#         utilization is a ratio, and only there while a program uses the NeuronCores;
#         `instance_info` always is


_NODE = "node"
"""Label of a series with the node that it describes."""
_XID_PLACE = "The alert has the node, the GPU and the number; `dmesg` on the node has the line."


def exporter_alerts(
    cluster: str, groups: Sequence[NodeGroupPlan], limits: Alarms
) -> tuple[AlertPlan, ...]:
    """Return the alerts of a cluster with exporters.

    Args:
        cluster: Name of the cluster.
        groups: Its node groups, which decide about GPUs, Neuron devices and EFA.
        limits: When alarms go off.
    """
    values = {
        "nodes-failed": _failed_conditions(cluster),
        "gpus-idle": highest("DCGM_FI_DEV_GPU_UTIL", cluster),
        XID_ALARM: highest(
            "DCGM_FI_DEV_XID_ERRORS",
            cluster,
            by=(_NODE, "gpu", "err_code"),
            err_code=f'=~"{"|".join(map(str, FATAL_XIDS))}"',
        ),
        "neuron-cores-idle": _neuron_core_percent(cluster),
        "efa-unresponsive": _efa_increase(EFA_UNRESPONSIVE, cluster),
        "efa-impaired": _efa_increase(EFA_IMPAIRED, cluster),
    }
    alarms = (
        replace(each, description=xid_description(_XID_PLACE)) if each.name == XID_ALARM else each
        for each in container_insights(cluster, groups, limits).alarms
    )
    return tuple(alert(each, values[each.name]) for each in alarms)


def _failed_conditions(cluster: str) -> str:
    """Return 1 for each node with a condition that tells of a fault.

    Conditions whose names end with `Ready` are true on a healthy node, those of the kubelet and of
    the EKS node monitoring agent; the others, such as `MemoryPressure`, are true on a faulty one.
    """
    conditions = f'kube_node_status_condition{{{CLUSTER_LABEL}="{cluster}",status="true",condition'
    ready, others = f'{conditions}=~".*Ready"}}', f'{conditions}!~".*Ready"}}'
    return f"max by ({CLUSTER_LABEL}, {_NODE}) (1 - {ready} or {others})"


def _neuron_core_percent(cluster: str) -> str:
    """Return the utilization of the busiest NeuronCore; 0 if no program uses one."""
    used = f"100 * {highest('neuroncore_utilization_ratio', cluster)}"
    monitored = highest("instance_info", cluster, job=f'="{neuron_monitor.NAME}"')
    return f"({used} or 0 * {monitored})"


def _efa_increase(counter: str, cluster: str) -> str:
    """Return the increase of a counter of EFA on each node."""
    name = f"{efa_exporter.PREFIX}{counter}"
    more = f'increase({name}{{{CLUSTER_LABEL}="{cluster}"}}[{WINDOW}])'
    return f"sum by ({CLUSTER_LABEL}, {_NODE}) ({more})"


# What Amazon EC2 Auto Scaling measures of the node groups of an EKS cluster.
#
# EKS enables the metrics of the Auto Scaling groups of managed node groups. The program enables
# those of self-managed node groups in stacks with `monitoring`.
#
# Sources:
#     https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-metrics.html
#     https://docs.aws.amazon.com/eks/latest/userguide/enable-asg-metrics.html


WANTED, RUNNING = "GroupDesiredCapacity", "GroupInServiceInstances"
GRANULARITY = "1Minute"
"""The only granularity of group metrics."""
LAUNCH_PERIODS = 3
"""Periods of 5 minutes in which nodes can launch; a p5.48xlarge takes up to 10 minutes."""


def node_group_metrics(group: NodeGroupPlan) -> Sources:
    """Return the graph of a node group's nodes, and the alarm of missing ones."""

    def metric(name: str, statistic: Literal["Maximum", "Minimum"], label: str) -> Metric:
        where = Subject(kind="auto-scaling-group", name=group.name)
        return Metric(
            namespace="AWS/AutoScaling",
            name=name,
            dimensions={"AutoScalingGroupName": where},
            statistic=statistic,
            label=label,
        )

    # A node is missing in a period if it is in every minute of it.
    wanted = metric(WANTED, "Minimum", "wanted")
    running = metric(RUNNING, "Maximum", "running")
    missing = AlarmPlan(
        name=f"nodes-missing-{group.name}",
        description=(
            f"Node group {group.name} has had fewer nodes than wanted for {LAUNCH_PERIODS * 5} "
            "minutes: a node was lost, or EC2 cannot launch one. The scaling activities of its "
            "Auto Scaling group have the reason; `./trainyard diagnose STACK` collects them."
        ),
        metric=wanted,
        less=running,
        comparison="GreaterThanThreshold",
        threshold=0,
        periods=LAUNCH_PERIODS,
    )
    graph = Graph(title=f"Nodes of {group.name}", metrics=(wanted, running), unit="nodes")
    return Sources(graphs=(graph,), alarms=(missing,))
