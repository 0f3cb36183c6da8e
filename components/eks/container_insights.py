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

from trainyard.components.config.monitoring import Alarms
from trainyard.components.eks.addons.addon import has_accelerators
from trainyard.components.eks.addons.eks_managed import container_insights_log_group
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.monitoring.accelerators import (
    Agent,
    GpuMetrics,
    efa_sources,
    gpu_sources,
    idle_alarm,
)
from trainyard.components.monitoring.gpu_errors import JSON_PATTERN, xid_errors
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Sources

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
