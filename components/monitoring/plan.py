"""The plan of a dashboard and of alarms, as plain records.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A CloudWatch metric with the statistic to use."""

    namespace: str
    name: str
    dimensions: Mapping[str, str] = field(default_factory=dict[str, str])
    file_system: str | None = None
    """Entry of `storage` whose id is the dimension `FileSystemId`."""
    statistic: Literal["Average", "Maximum", "Minimum", "Sum"]
    label: str
    """Name of the line in a graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlarmPlan:
    """An alarm: the metric is above or below the threshold in every period.

    A period without data does not count: nodes send no metrics before they launch.
    """

    name: str
    """Unique in the stack, such as `nodes-failed`."""
    description: str
    """What happened, and what to do; the message contains it."""
    metric: Metric
    comparison: Literal["GreaterThanThreshold", "LessThanThreshold"]
    threshold: float
    """In the unit of the metric."""
    period_seconds: int = 300
    periods: int = 1
    """Consecutive periods in which the threshold is crossed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPlan:
    """Events that are sent to the topic."""

    name: str
    """Unique in the stack, such as `capacity-block`."""
    description: str
    pattern: Mapping[str, Any]
    """Event pattern of EventBridge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMetricPlan:
    """A metric that counts log lines."""

    log_group: str
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
class AlarmsPlan:
    """Alarms and events, and the topic that receives them."""

    topic_arn: str | None
    """Existing topic; None for a new one."""
    emails: tuple[str, ...]
    alarms: tuple[AlarmPlan, ...]
    events: tuple[EventPlan, ...]
    log_metrics: tuple[LogMetricPlan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringPlan:
    """The dashboard and the alarms of a stack."""

    region: str
    tags: Mapping[str, str]
    graphs: tuple[Graph, ...]
    """Graphs of the dashboard; empty without a dashboard."""
    alarms: AlarmsPlan | None
    file_system_ids: Mapping[str, str]
    """Ids of existing file systems, by name."""
