"""Alarms as alerts of Amazon Managed Service for Prometheus.

An alert is an alarm of CloudWatch on another source: it has its name, message, threshold and
number of periods. Only the metric is written in PromQL. CloudWatch evaluates an alarm at the end of
each period; Prometheus evaluates an alert every minute. One value is enough for an alarm of one
period, such as a count of errors; for the others, it must be beyond the threshold all the time.

Sources:
    https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/
    https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-Ruler.html
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import yaml

from trainyard.components.config.monitoring import PERIOD_MINUTES
from trainyard.components.monitoring.plan import AlarmPlan

CLUSTER_LABEL = "cluster"
"""Label of a series with the name of the stack. The CloudWatch agent adds none to EFA; the label
`InstanceId`, which all its series have, leads to it."""
WINDOW = f"{PERIOD_MINUTES}m"
"""Time over which counters are compared: one period."""
_INTERVAL = "1m"
"""Time between two evaluations: as often as nodes send their metrics."""
_SIGNS = {"GreaterThanThreshold": ">", "LessThanThreshold": "<"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertPlan:
    """An alert: the expression has a result all the time."""

    name: str
    """Name of the alarm."""
    description: str
    """What happened, and what to do."""
    expression: str
    """PromQL."""
    minutes: int
    """Time for which the expression must have a result; 0 for the first evaluation."""


def alert(alarm: AlarmPlan, value: str) -> AlertPlan:
    """Return an alarm as an alert.

    Args:
        alarm: The alarm.
        value: Its metric in PromQL, in the unit of the threshold. Each series of the result is an
            alert of its own.
    """
    return AlertPlan(
        name=alarm.name,
        description=alarm.description,
        expression=f"{value} {_SIGNS[alarm.comparison]} {alarm.threshold:g}",
        minutes=alarm.periods * PERIOD_MINUTES if alarm.periods > 1 else 0,
    )


def highest(metric: str, cluster: str, *, by: Iterable[str] = (), **labels: str) -> str:
    """Return the highest value of a gauge in PromQL.

    Args:
        metric: Name of the gauge.
        cluster: Name of the stack.
        by: Labels for each of whose values there is a result, in addition to the cluster.
        labels: Matchers of further labels, such as `=~"46|48"`.
    """
    matchers = ",".join(f"{name}{match}" for name, match in labels.items())
    where = f'{CLUSTER_LABEL}="{cluster}"' + (f",{matchers}" if matchers else "")
    kept = ", ".join((CLUSTER_LABEL, *by))
    return f"max by ({kept}) ({metric}{{{where}}})"


def rule_file(cluster: str, alerts: Iterable[AlertPlan]) -> str:
    """Return the alerts of a stack as a rules file, in YAML."""
    rules = [
        {
            "alert": each.name,
            "expr": each.expression,
            "for": f"{each.minutes}m",
            "labels": {CLUSTER_LABEL: cluster},
            "annotations": {"description": each.description},
        }
        for each in alerts
    ]
    group = {"name": cluster, "interval": _INTERVAL, "rules": rules}
    return yaml.safe_dump({"groups": [group]}, sort_keys=False, width=1000)
