"""What the CloudWatch agent measures on the nodes of Slurm and Batch.

CloudWatch gets the metrics of all nodes, added up in the namespace of the stack without dimensions,
and those of each node by its instance id. It gets none of single devices, so that AWS charges for
the same number of metrics whatever the number of GPUs. Prometheus gets those of single devices
alone: series that nodes add up have the same labels on all nodes, and would overwrite each other.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-Configuration-File-Details.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-NVIDIA-GPU.html
    https://github.com/amazon-contributing/opentelemetry-collector-contrib, from which the agent is
        built: `receiver/awsefareceiver/metadata.yaml` (EFA counters are cumulative) and
        `pkg/translator/prometheus/normalize_name.go` (names in Prometheus have no suffixes)
    https://github.com/aws/amazon-cloudwatch-agent: `translator/config/schema.json`,
        `translator/translate/otel/receiver/awsefa` (since version 1.300068.0, of May 2026) and
        `translator/tocwconfig/sampleConfig/drop_origin_linux.json`, `amp_config_linux.json` and
        `translator/translate/otel/exporter/prometheusremotewrite`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.monitoring import NodeMetrics
from trainyard.components.config.stack import StackConfig
from trainyard.components.monitoring.accelerators import (
    EFA_COUNTERS,
    Agent,
    GpuMetrics,
    efa_sources,
    gpu_sources,
)
from trainyard.components.monitoring.alert_rules import (
    CLUSTER_LABEL,
    WINDOW,
    AlertPlan,
    alert,
    highest,
)
from trainyard.components.monitoring.plan import Graph, Metric, Sources, own_namespace
from trainyard.components.monitoring.planner import limits_of


@dataclass(frozen=True, slots=True)
class AgentAccess:
    """What nodes need so that the agent can send metrics."""

    policy: str
    """AWS managed policy of their role."""
    endpoint: str
    """Interface endpoint of the service that it calls."""


_ACCESS: Mapping[NodeMetrics, AgentAccess] = {
    "cloudwatch": AgentAccess("CloudWatchAgentServerPolicy", "monitoring"),
    "prometheus": AgentAccess("AmazonPrometheusRemoteWriteAccess", "aps-workspaces"),
}
"""By the value of `node_metrics`.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/create-iam-roles-for-cloudwatch-agent.html
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-onboard-ingest-metrics-remote-write-EC2.html
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html
"""
_OWN = "trainyard"
_EFA = "trainyard-efa"
"""Names of configuration documents."""
_GPU_NAMES = ("utilization_gpu", "memory_used", "temperature_gpu", "power_draw")
_GPU_CLOCK = "clocks_current_sm"
_MEMORY = "mem_used_percent"
_MEASUREMENTS: Mapping[str, tuple[str, ...]] = {
    "mem": (_MEMORY,),
    "nvidia_gpu": (*_GPU_NAMES, _GPU_CLOCK),
    "efa": tuple(f"efa_{name}" for name in EFA_COUNTERS),
}
"""Names of metrics by section of the configuration."""
_INSTANCE = {"InstanceId": "${aws:InstanceId}"}
_GPU_METRICS = GpuMetrics(
    utilization="nvidia_smi_utilization_gpu",
    temperature="nvidia_smi_temperature_gpu",
    power="nvidia_smi_power_draw",
    memory="nvidia_smi_memory_used",
    memory_unit="MiB",
)


@dataclass(frozen=True, slots=True, order=True)
class Measured:
    """What the agent measures on a node besides its memory.

    It does not start with the configuration of NVIDIA GPUs where `nvidia-smi` is missing.
    """

    gpus: bool
    efa: bool

    @property
    def name(self) -> str:
        """The devices, such as `gpu-efa`."""
        return "-".join(("gpu",) * self.gpus + ("efa",) * self.efa)


def measured_on(instance_type: InstanceType, *, efa: bool) -> Measured | None:
    """Return what the agent measures on nodes of a type; None without GPUs and EFA."""
    measured = Measured(gpus=instance_type.has_nvidia_gpus, efa=efa)
    return measured if measured.gpus or measured.efa else None


def measured_on_pools(pools: Iterable[NodePoolPlan]) -> list[Measured]:
    """Return what the agent measures on the nodes of pools, without repetitions."""
    found = (measured_on(pool.instance_type, efa=pool.interfaces is not None) for pool in pools)
    return sorted({measured for measured in found if measured is not None})


def agent_sources(config: StackConfig, pools: Sequence[NodePoolPlan]) -> tuple[Sources, ...]:
    """Return the graphs and alarms of what the agent of a stack's nodes sends to CloudWatch."""
    return _sources(config, pools) if config.node_metrics == "cloudwatch" else ()


def agent_alerts(config: StackConfig, pools: Sequence[NodePoolPlan]) -> tuple[AlertPlan, ...]:
    """Return the same alarms on what the agent sends to Prometheus."""
    if config.node_metrics != "prometheus":
        return ()
    return tuple(
        alert(alarm, _value(alarm.metric, config.name))
        for source in _sources(config, pools)
        for alarm in source.alarms
    )


def _value(metric: Metric, cluster: str) -> str:
    """Return the metric of an alarm in PromQL: of each node for EFA, of the cluster for others."""
    if metric.name not in _MEASUREMENTS["efa"]:
        return highest(metric.name, cluster)
    # EFA has no label with the name of the cluster.
    nodes = f"0 * {highest(_MEMORY, cluster, by=_INSTANCE)} + 1"
    more = f"increase({metric.name}[{WINDOW}])"
    (instance,) = _INSTANCE
    joined = f"{more} * on ({instance}) group_left ({CLUSTER_LABEL}) ({nodes})"
    return f"sum by ({CLUSTER_LABEL}, {instance}) ({joined})"


def _sources(config: StackConfig, pools: Sequence[NodePoolPlan]) -> tuple[Sources, ...]:
    measured = measured_on_pools(pools)
    if not measured:
        return ()
    agent = Agent(namespace=own_namespace(config.name), dimensions={})
    memory = agent.metric(_MEMORY, "Maximum", "fullest node")
    parts = [Sources(graphs=(Graph(title="Memory of nodes", metrics=(memory,), unit="percent"),))]
    if any(each.efa for each in measured):
        parts.insert(0, efa_sources(agent, "efa_"))
    if any(each.gpus for each in measured):
        # Hot GPUs and those with too little power lower their clock; so do idle ones.
        slowest = agent.metric(f"nvidia_smi_{_GPU_CLOCK}", "Minimum", "slowest")
        clock = Graph(title="GPU clock", metrics=(slowest,), unit="MHz")
        gpus = gpu_sources(agent, _GPU_METRICS, limits_of(config))
        parts = [gpus, Sources(graphs=(clock,)), *parts]
    return tuple(parts)


def agent_access(config: StackConfig) -> AgentAccess | None:
    """Return what nodes that the agent measures need; None if they send no metrics."""
    return _ACCESS[config.node_metrics] if config.node_metrics else None


def agent_configurations(
    config: StackConfig, measured: Measured
) -> Mapping[str, Mapping[str, Any]]:
    """Return the configuration documents of the agent, by name.

    EFA has its own, which an older agent refuses. Documents that the agent merges must agree on
    what they both have.
    """
    own = ("mem", "nvidia_gpu") if measured.gpus else ("mem",)
    documents = {_OWN: own, **({_EFA: ("efa",)} if measured.efa else {})}
    workspace = config.monitoring.workspace_arn if config.monitoring else None

    def document(sections: tuple[str, ...]) -> Mapping[str, Any]:
        if workspace:
            return _to_prometheus(config.name, workspace, sections)
        return _to_cloudwatch(config.name, sections)

    return {name: {"metrics": document(sections)} for name, sections in documents.items()}


def _to_cloudwatch(cluster: str, sections: tuple[str, ...]) -> Mapping[str, Any]:
    def collected(section: str) -> Mapping[str, Any]:
        names = list(_MEASUREMENTS[section])
        # Those of the devices; memory has none.
        single = {} if section == "mem" else {"drop_original_metrics": names}
        return {"measurement": names, **single}

    return {
        "namespace": own_namespace(cluster),
        "append_dimensions": _INSTANCE,
        "aggregation_dimensions": [[], ["InstanceId"]],
        "metrics_collected": {section: collected(section) for section in sections},
    }


def _to_prometheus(
    cluster: str, workspace_arn: str, sections: tuple[str, ...]
) -> Mapping[str, Any]:
    def collected(section: str) -> Mapping[str, Any]:
        labels = {} if section == "efa" else {"append_dimensions": {CLUSTER_LABEL: cluster}}
        return {"measurement": list(_MEASUREMENTS[section]), **labels}

    return {
        "metrics_destinations": {"amp": {"workspace_id": workspace_arn.rpartition("/")[2]}},
        "append_dimensions": _INSTANCE,
        "metrics_collected": {section: collected(section) for section in sections},
    }


# The agent keeps a refused document as `.tmp` and reads it again with the next one.
# https://github.com/aws/amazon-cloudwatch-agent, packaging/dependencies/amazon-cloudwatch-agent-ctl
_CONFIGURE = """\
set -eu
agent=/opt/aws/amazon-cloudwatch-agent
configure() {
  document="$agent/etc/$1.json"
  cat > "$document"
  "$agent/bin/amazon-cloudwatch-agent-ctl" -a append-config -m ec2 -s -c "file:$document" && return
  rm -f "$agent/etc/amazon-cloudwatch-agent.d/file_$1.json.tmp"
  return 1
}
"""
_TOO_OLD = "no EFA metrics: they need version 1.300068.0 of the CloudWatch agent"


def agent_script(config: StackConfig, measured: Measured) -> str:
    """Return a POSIX shell script that adds the configuration to the installed agent.

    It keeps what another program has configured, such as the logs of ParallelCluster, and replaces
    what it added before.
    """
    parts = [_CONFIGURE]
    for name, document in agent_configurations(config, measured).items():
        otherwise = f" || echo '{_TOO_OLD}' >&2" if name == _EFA else ""
        parts.append(
            f"configure {name} <<'END'{otherwise}\n{json.dumps(document, indent=1)}\nEND\n"
        )
    return "".join(parts)
