"""What the CloudWatch agent measures on the nodes of Slurm and Batch.

The agent adds up the metrics of all nodes in the namespace of the stack, without dimensions, and
those of each node by its instance id. It does not send those of single devices, so that AWS charges
for the same number of metrics whatever the number of GPUs.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-Configuration-File-Details.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-NVIDIA-GPU.html
    https://github.com/aws/amazon-cloudwatch-agent: `translator/config/schema.json`,
        `translator/translate/otel/receiver/awsefa` (since version 1.300068.0, of May 2026) and
        `translator/tocwconfig/sampleConfig/drop_origin_linux.json`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.catalog.instance_type import InstanceType
from components.compute.node_pool_plan import NodePoolPlan
from components.config.stack import StackConfig
from components.monitoring.accelerators import (
    EFA_COUNTERS,
    Agent,
    GpuMetrics,
    efa_sources,
    gpu_sources,
)
from components.monitoring.plan import Graph, Sources, own_namespace
from components.monitoring.planner import limits_of

AGENT_POLICY = "CloudWatchAgentServerPolicy"
"""Managed policy that the nodes of the agent need.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/create-iam-roles-for-cloudwatch-agent.html
"""
_OWN = "trainyard"
_EFA = "trainyard-efa"
"""Names of configuration documents."""
_GPU_NAMES = ("utilization_gpu", "memory_used", "temperature_gpu", "power_draw")
_GPU_CLOCK = "clocks_current_sm"
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
    """Return the graphs and alarms of what the agent of a stack's nodes sends, if it runs."""
    measured = measured_on_pools(pools)
    if not measured or not config.sends_node_metrics:
        return ()
    agent = Agent(namespace=own_namespace(config.name), dimensions={})
    memory = agent.metric("mem_used_percent", "Maximum", "fullest node")
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


def agent_configurations(cluster: str, measured: Measured) -> Mapping[str, Mapping[str, Any]]:
    """Return the configuration documents of the agent, by name.

    EFA has its own, which an older agent refuses.
    """
    gpus = {"nvidia_gpu": _rolled_up((*_GPU_NAMES, _GPU_CLOCK))} if measured.gpus else {}
    efa = _rolled_up(tuple(f"efa_{name}" for name in EFA_COUNTERS))
    return {
        _OWN: _document(cluster, {"mem": {"measurement": ["mem_used_percent"]}, **gpus}),
        **({_EFA: _document(cluster, {"efa": efa})} if measured.efa else {}),
    }


def _document(cluster: str, collected: Mapping[str, Any]) -> Mapping[str, Any]:
    # Documents that the agent merges must agree on what they both have.
    return {
        "metrics": {
            "namespace": own_namespace(cluster),
            "append_dimensions": {"InstanceId": "${aws:InstanceId}"},
            "aggregation_dimensions": [[], ["InstanceId"]],
            "metrics_collected": collected,
        }
    }


def _rolled_up(names: tuple[str, ...]) -> dict[str, Any]:
    return {"measurement": list(names), "drop_original_metrics": list(names)}


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


def agent_script(cluster: str, measured: Measured) -> str:
    """Return a POSIX shell script that adds the configuration to the installed agent.

    It keeps what another program has configured, such as the logs of ParallelCluster, and replaces
    what it added before.
    """
    parts = [_CONFIGURE]
    for name, document in agent_configurations(cluster, measured).items():
        otherwise = f" || echo '{_TOO_OLD}' >&2" if name == _EFA else ""
        parts.append(
            f"configure {name} <<'END'{otherwise}\n{json.dumps(document, indent=1)}\nEND\n"
        )
    return "".join(parts)
