"""What the CloudWatch Observability add-on measures on the nodes of an EKS cluster.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/container-insights-eks-classic-metrics.html
    https://github.com/aws/amazon-cloudwatch-agent-test: the metrics that the agent sends with the
        dimension `ClusterName` alone (`test/gpu`, `test/efa`, `test/awsneuron`). EFA counters are
        the increase since the previous measurement.
    https://github.com/aws-observability/helm-charts, `containerLogs.fluentBit` in the values of the
        chart: Fluent Bit sends a kernel message as the field `message` of a JSON object, once with
        all kernel messages (`dmesg`) and once with all messages of the system (`messages`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from components.config.monitoring import Alarms
from components.eks.addons.addon import has_accelerators
from components.eks.addons.eks_managed import container_insights_log_group
from components.eks.node_group_plan import NodeGroupPlan
from components.monitoring.gpu_errors import JSON_PATTERN, xid_errors
from components.monitoring.plan import AlarmPlan, Graph, Metric, Sources
from components.monitoring.planner import periods

_NAMESPACE = "ContainerInsights"
IDLE_PERCENT = 1.0
"""Utilization of the busiest accelerator below which no accelerator does any work."""


def container_insights(cluster: str, groups: Sequence[NodeGroupPlan], limits: Alarms) -> Sources:
    """Return the graphs and alarms of a cluster with the add-on.

    Args:
        cluster: Name of the cluster.
        groups: Its node groups, which decide about GPUs, Neuron devices and EFA.
        limits: When alarms go off.
    """
    parts = [_nodes(cluster)]
    if any(map(has_accelerators("nvidia"), groups)):
        parts.extend((_gpus(cluster, limits), _xid_errors(cluster)))
    if any(map(has_accelerators("neuron"), groups)):
        parts.append(_neuron(cluster, limits))
    if any(group.interfaces for group in groups):
        parts.append(_efa(cluster))
    return Sources(
        graphs=tuple(graph for part in parts for graph in part.graphs),
        alarms=tuple(alarm for part in parts for alarm in part.alarms),
        log_metrics=tuple(each for part in parts for each in part.log_metrics),
    )


def _metric(
    cluster: str,
    name: str,
    statistic: Literal["Average", "Maximum", "Minimum", "Sum"],
    label: str,
    *,
    per_second: bool = False,
) -> Metric:
    return Metric(
        namespace=_NAMESPACE,
        name=name,
        dimensions={"ClusterName": cluster},
        statistic=statistic,
        label=label,
        per_second=per_second,
    )


def _nodes(cluster: str) -> Sources:
    failed = _metric(cluster, "cluster_failed_node_count", "Maximum", "failed")
    return Sources(
        graphs=(
            Graph(
                title="Nodes",
                metrics=(_metric(cluster, "cluster_node_count", "Maximum", "all"), failed),
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


def _idle(name: str, what: str, busiest: Metric, limits: Alarms) -> AlarmPlan:
    return AlarmPlan(
        name=name,
        description=(
            f"No {what} of the cluster has done any work for {limits.idle_minutes} minutes, and "
            "its nodes are running."
        ),
        metric=busiest,
        comparison="LessThanThreshold",
        threshold=IDLE_PERCENT,
        periods=periods(limits.idle_minutes),
    )


def _gpus(cluster: str, limits: Alarms) -> Sources:
    busiest = _metric(cluster, "node_gpu_utilization", "Maximum", "busiest")
    return Sources(
        graphs=(
            Graph(
                title="GPU utilization",
                metrics=(
                    _metric(cluster, "node_gpu_utilization", "Average", "average"),
                    busiest,
                ),
                unit="percent",
            ),
            Graph(
                title="GPU memory",
                metrics=(_metric(cluster, "node_gpu_memory_utilization", "Average", "average"),),
                unit="percent",
            ),
            Graph(
                title="GPU temperature",
                metrics=(_metric(cluster, "node_gpu_temperature", "Maximum", "hottest"),),
                unit="degrees Celsius",
            ),
            Graph(
                title="GPU power",
                metrics=(
                    _metric(cluster, "node_gpu_power_draw", "Average", "average"),
                    _metric(cluster, "node_gpu_power_draw", "Maximum", "highest"),
                ),
                unit="watts",
            ),
        ),
        alarms=(_idle("gpus-idle", "GPU", busiest, limits),),
    )


def _xid_errors(cluster: str) -> Sources:
    logs = container_insights_log_group(cluster, "host")
    where = f"The log group {logs} has the line, in a log stream with the name of the node."
    return xid_errors(cluster, logs, JSON_PATTERN, where=where)


def _neuron(cluster: str, limits: Alarms) -> Sources:
    busiest = _metric(cluster, "node_neuroncore_utilization", "Maximum", "busiest")
    ecc = _metric(cluster, "node_neurondevice_hw_ecc_events_total", "Maximum", "ECC events")
    return Sources(
        graphs=(
            Graph(
                title="NeuronCore utilization",
                metrics=(
                    _metric(cluster, "node_neuroncore_utilization", "Average", "average"),
                    busiest,
                ),
                unit="percent",
            ),
            Graph(
                title="NeuronCore memory",
                metrics=(
                    _metric(cluster, "node_neuroncore_memory_usage_total", "Average", "average"),
                ),
                unit="bytes",
            ),
            Graph(title="ECC events of Neuron devices", metrics=(ecc,), unit="events"),
        ),
        alarms=(_idle("neuron-cores-idle", "NeuronCore", busiest, limits),),
    )


def _efa(cluster: str) -> Sources:
    unresponsive = _metric(
        cluster, "node_efa_unresponsive_remote_events", "Sum", "unresponsive remote"
    )
    impaired = _metric(
        cluster, "node_efa_impaired_remote_conn_events", "Sum", "impaired connections"
    )
    sent = ("node_efa_tx_bytes", "node_efa_rdma_write_bytes", "node_efa_rdma_read_bytes")
    return Sources(
        graphs=(
            Graph(
                title="EFA traffic",
                metrics=tuple(
                    _metric(cluster, name, "Sum", name.removeprefix("node_efa_"), per_second=True)
                    for name in sent
                ),
                unit="bytes/s",
            ),
            Graph(
                title="EFA retransmissions and errors",
                metrics=(
                    _metric(cluster, "node_efa_retrans_pkts", "Sum", "retransmitted packets"),
                    _metric(cluster, "node_efa_retrans_timeout_events", "Sum", "path changes"),
                    _metric(cluster, "node_efa_rx_dropped", "Sum", "dropped packets"),
                    impaired,
                    unresponsive,
                ),
                unit="in 5 minutes",
            ),
        ),
        alarms=(
            AlarmPlan(
                name="efa-unresponsive",
                description=(
                    "A node does not respond over EFA; jobs that use it hang until NCCL or "
                    "libfabric gives up. `./trainyard verify STACK` finds it."
                ),
                metric=unresponsive,
                comparison="GreaterThanThreshold",
                threshold=0,
            ),
            AlarmPlan(
                name="efa-impaired",
                description=(
                    "EFA connections are impaired: EFA limits their rate, and jobs are slower. "
                    "`./trainyard verify STACK` measures them and finds the node."
                ),
                metric=impaired,
                comparison="GreaterThanThreshold",
                threshold=0,
                periods=3,
            ),
        ),
    )
