"""Every metric of a stack is one that AWS sends, or that the stack makes from logs."""

from __future__ import annotations

import itertools

import pytest

from tests.monitoring.conftest import MONITORED, monitoring_of
from tests.support.monitoring import METRICS
from trainyard.components.monitoring.plan import Metric, MonitoringPlan


def metrics_of(plan: MonitoringPlan) -> list[Metric]:
    assert plan.alarms is not None
    measured = [(alarm.metric, alarm.less) for alarm in plan.alarms.alarms]
    shown = [graph.metrics for graph in plan.graphs]
    return [each for each in itertools.chain(*measured, *shown) if each is not None]


def sender(metric: Metric) -> str:
    """Return the namespace, or that of the CloudWatch agent before the stack sets its own."""
    return "CWAgent" if metric.namespace.startswith("trainyard/") else metric.namespace


@pytest.mark.parametrize("stack", MONITORED)
def test_every_metric_is_sent_with_these_dimensions(stack: str) -> None:
    plan = monitoring_of(stack)
    made = {(each.metric.namespace, each.metric.name) for each in plan.log_metrics}
    unknown = [
        each
        for each in metrics_of(plan)
        if each.name not in METRICS.get((sender(each), tuple(sorted(each.dimensions))), ())
        and (each.namespace, each.name) not in made
    ]
    assert metrics_of(plan)
    assert unknown == []


@pytest.mark.parametrize("stack", MONITORED)
def test_free_space_is_summed_over_the_minute_in_which_the_targets_send_it(stack: str) -> None:
    # A sum over five minutes is five times the free space, so a full file system would look empty.
    free = [each for each in metrics_of(monitoring_of(stack)) if each.name.startswith("FreeData")]
    assert {(each.statistic, each.period_seconds) for each in free} <= {("Sum", 60)}
    assert bool(free) == (stack == "p5-cb")


def test_a_cluster_without_the_addon_has_the_graphs_of_groups_and_reservations_alone() -> None:
    namespaces = {
        each.namespace
        for each in metrics_of(monitoring_of("p5-cb"))
        if each.namespace != "ContainerInsights"
    }
    assert namespaces == {
        "AWS/AutoScaling",
        "AWS/EC2CapacityReservations",
        "AWS/FSx",
        "trainyard/p5-cb",
    }
