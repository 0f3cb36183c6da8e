"""The alarms of nodes of an EKS cluster, on what the exporters of Prometheus measure.

Container Insights decides which alarms exist. Here is what they read instead of its metrics.

Sources:
    https://github.com/NVIDIA/dcgm-exporter, `etc/default-counters.csv` of the pinned version, and
        `internal/pkg/collector/gpu_collector.go`: the label `err_code` of the last Xid error
    https://github.com/kubernetes/kube-state-metrics, `docs/metrics/cluster/node-metrics.md`
    `neuron-monitor-prometheus.py` of the package aws-neuronx-tools, and its dashboard
        https://github.com/aws-neuron/aws-neuron-sdk, `src/examples/neuron-monitor`: utilization is
        a ratio, and only there while a program uses the NeuronCores; `instance_info` always is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trainyard.components.config.monitoring import Alarms
from trainyard.components.eks.addons import efa_exporter, neuron_monitor
from trainyard.components.eks.container_insights import container_insights
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.monitoring.accelerators import EFA_IMPAIRED, EFA_UNRESPONSIVE
from trainyard.components.monitoring.alert_rules import (
    CLUSTER_LABEL,
    WINDOW,
    AlertPlan,
    alert,
    highest,
)
from trainyard.components.monitoring.gpu_errors import FATAL_XIDS, XID_ALARM, xid_description

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
