"""The plan of a dashboard and of alarms, as plain records.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar

from trainyard.components.config.monitoring import PERIOD_MINUTES, NodeMetrics

PERIOD_SECONDS = PERIOD_MINUTES * 60
SubjectKind = Literal[
    "auto-scaling-group", "ecs-cluster", "file-system", "head-node", "log-group", "reservation"
]
T = TypeVar("T")


def own_namespace(cluster: str) -> str:
    """Return the namespace of the metrics that a stack makes itself."""
    return f"trainyard/{cluster}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that the stack creates, whose id is unknown before."""

    kind: SubjectKind
    """The ids are: the name of the group, of the cluster and of the log group; those of the file
    system, the instance and the reservation."""
    name: str
    """Name in the plan, such as that of the node group."""

    @classmethod
    def each(cls, kind: SubjectKind, ids: Mapping[str, T]) -> dict[Subject, T]:
        """Return ids by their subjects instead of their names."""
        return {cls(kind=kind, name=name): made for name, made in ids.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A CloudWatch metric with the statistic to use."""

    namespace: str
    name: str
    dimensions: Mapping[str, str | Subject] = field(default_factory=dict[str, "str | Subject"])
    statistic: Literal["Average", "Maximum", "Minimum", "Sum"]
    label: str
    """Name of the line in a graph."""
    period_seconds: int = PERIOD_SECONDS
    per_second: bool = False
    """Whether a graph shows the value divided by the period."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmPlan:
    """An alarm: the value is above or below the threshold in every period."""

    name: str
    """Unique in the stack, such as `nodes-failed`."""
    description: str
    """What happened, and what to do; the message contains it."""
    metric: Metric
    less: Metric | None = None
    """Metric that is subtracted from `metric`, of the same period."""
    comparison: Literal["GreaterThanThreshold", "LessThanThreshold"]
    threshold: float
    """In the unit of the metric."""
    periods: int = 1
    """Consecutive periods in which the threshold is crossed."""
    missing: Literal["breaching", "notBreaching"] = "notBreaching"
    """What a period without data means. Nodes send no metrics before they launch, and a reservation
    none before it starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPlan:
    """Events that are sent to the topic."""

    name: str
    """Unique in the stack, such as `capacity-block`."""
    description: str
    pattern: Mapping[str, Any]
    """Event pattern of EventBridge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePlan:
    """A message that is sent to the topic once."""

    name: str
    """Unique in the stack, such as `block-ends-in-24-hours`."""
    at: datetime
    """UTC."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMetricPlan:
    """A metric that counts log lines."""

    log_group: str | Subject
    pattern: str
    """Filter pattern of CloudWatch Logs."""
    metric: Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A graph of the dashboard."""

    title: str
    metrics: tuple[Metric, ...]
    unit: str = ""
    """Label of the vertical axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What one source of metrics, such as an add-on, has for a stack."""

    graphs: tuple[Graph, ...] = ()
    alarms: tuple[AlarmPlan, ...] = ()
    events: tuple[EventPlan, ...] = ()
    log_metrics: tuple[LogMetricPlan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentPlan:
    """A configuration of the CloudWatch agent that Systems Manager adds on nodes with a tag."""

    name: str
    """Unique in the stack, such as `gpu-efa`."""
    tag_key: str
    tag_value: str
    script: str
    """Shell script that adds the configuration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesPlan:
    """Alerts that a workspace of Amazon Managed Service for Prometheus evaluates."""

    workspace_arn: str
    """Existing workspace."""
    file: str
    """Rules file, in YAML."""

    @property
    def workspace_id(self) -> str:
        """Id of the workspace."""
        return self.workspace_arn.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmsPlan:
    """Alarms and events, and the topic that receives them."""

    topic_arn: str | None
    """Existing topic; None for a new one."""
    emails: tuple[str, ...]
    alarms: tuple[AlarmPlan, ...]
    events: tuple[EventPlan, ...]
    messages: tuple[MessagePlan, ...]
    """Only those that are due in the future."""
    rules: RulesPlan | None = None
    """Alarms on series of Prometheus; None if nodes send it no metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringPlan:
    """The dashboard and the alarms of a stack."""

    region: str
    tags: Mapping[str, str]
    dashboard: bool
    graphs: tuple[Graph, ...]
    """Graphs of the dashboard, and figures of `status`."""
    log_metrics: tuple[LogMetricPlan, ...]
    """Metrics of graphs and alarms that the stack makes from logs."""
    alarms: AlarmsPlan | None
    agents: tuple[AgentPlan, ...] = ()
    node_metrics: NodeMetrics | None = None
    """Where the agents of nodes send metrics."""
