"""Graphs and alarms of accelerators and EFA, whichever agent measures them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from trainyard.components.config.monitoring import Alarms
from trainyard.components.monitoring.plan import AlarmPlan, Graph, Metric, Sources
from trainyard.components.monitoring.planner import periods

IDLE_PERCENT = 1.0
"""Utilization of the busiest accelerator below which no accelerator does any work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Where an agent puts the metrics of all nodes of a cluster."""

    namespace: str
    dimensions: Mapping[str, str]

    def metric(
        self,
        name: str,
        statistic: Literal["Average", "Maximum", "Minimum", "Sum"],
        label: str,
        *,
        per_second: bool = False,
    ) -> Metric:
        """Return a metric with its label in a graph."""
        return Metric(
            namespace=self.namespace,
            name=name,
            dimensions=self.dimensions,
            statistic=statistic,
            label=label,
            per_second=per_second,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMetrics:
    """Names that an agent gives to metrics of NVIDIA GPUs."""

    utilization: str
    """Percent."""
    temperature: str
    """Degrees Celsius."""
    power: str
    """Watts."""
    memory: str
    memory_unit: str
    """Unit of `memory`."""


def idle_alarm(name: str, what: str, busiest: Metric, limits: Alarms) -> AlarmPlan:
    """Return the alarm of running nodes whose accelerators do no work.

    Args:
        name: Name of the alarm.
        what: An accelerator, such as `GPU`.
        busiest: Utilization of the busiest accelerator in percent.
        limits: When alarms go off.
    """
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


def gpu_sources(agent: Agent, names: GpuMetrics, limits: Alarms) -> Sources:
    """Return the graphs of NVIDIA GPUs, and the alarm of idle ones."""
    busiest = agent.metric(names.utilization, "Maximum", "busiest")
    return Sources(
        graphs=(
            Graph(
                title="GPU utilization",
                metrics=(agent.metric(names.utilization, "Average", "average"), busiest),
                unit="percent",
            ),
            Graph(
                title="GPU memory",
                metrics=(agent.metric(names.memory, "Average", "average"),),
                unit=names.memory_unit,
            ),
            Graph(
                title="GPU temperature",
                metrics=(agent.metric(names.temperature, "Maximum", "hottest"),),
                unit="degrees Celsius",
            ),
            Graph(
                title="GPU power",
                metrics=(
                    agent.metric(names.power, "Average", "average"),
                    agent.metric(names.power, "Maximum", "highest"),
                ),
                unit="watts",
            ),
        ),
        alarms=(idle_alarm("gpus-idle", "GPU", busiest, limits),),
    )


EFA_TRAFFIC = ("tx_bytes", "rdma_write_bytes", "rdma_read_bytes")
EFA_FAULTS = {
    "retrans_pkts": "retransmitted packets",
    "retrans_timeout_events": "path changes",
    "rx_dropped": "dropped packets",
}
EFA_UNRESPONSIVE = "unresponsive_remote_events"
EFA_IMPAIRED = "impaired_remote_conn_events"
EFA_COUNTERS = (*EFA_TRAFFIC, *EFA_FAULTS, EFA_IMPAIRED, EFA_UNRESPONSIVE)
"""Counters of the EFA driver. Agents send the increase since the previous measurement.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-working-monitor.html
"""


def efa_sources(agent: Agent, prefix: str) -> Sources:
    """Return the graphs and alarms of EFA.

    Args:
        agent: The agent that sends them.
        prefix: What the agent writes before the name of a counter, such as `efa_`.
    """
    unresponsive = agent.metric(f"{prefix}{EFA_UNRESPONSIVE}", "Sum", "unresponsive remote")
    impaired = agent.metric(f"{prefix}{EFA_IMPAIRED}", "Sum", "impaired connections")
    faults = (agent.metric(f"{prefix}{name}", "Sum", label) for name, label in EFA_FAULTS.items())
    return Sources(
        graphs=(
            Graph(
                title="EFA traffic",
                metrics=tuple(
                    agent.metric(f"{prefix}{name}", "Sum", name, per_second=True)
                    for name in EFA_TRAFFIC
                ),
                unit="bytes/s",
            ),
            Graph(
                title="EFA retransmissions and errors",
                metrics=(*faults, impaired, unresponsive),
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
