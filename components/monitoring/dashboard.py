"""The body of a CloudWatch dashboard.

Source:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainyard.components.monitoring.plan import Graph, Metric, Subject

_COLUMNS = 3
_WIDTH = 24 // _COLUMNS
"""A dashboard is 24 units wide."""
_HEIGHT = 6
_ALARM_HEIGHT = 3


def dashboard_body(
    graphs: Sequence[Graph],
    *,
    region: str,
    alarm_arns: Sequence[str],
    ids: Mapping[Subject, str],
) -> dict[str, Any]:
    """Return a dashboard with the state of the alarms first and three graphs in a row.

    Args:
        graphs: The graphs, in order.
        region: Region of the metrics.
        alarm_arns: Alarms of the stack.
        ids: Ids of what the stack creates.
    """
    top = _ALARM_HEIGHT if alarm_arns else 0
    widgets = [_alarm_widget(alarm_arns)] if alarm_arns else []
    for index, graph in enumerate(graphs):
        row, column = divmod(index, _COLUMNS)
        widgets.append(
            {
                "type": "metric",
                "x": column * _WIDTH,
                "y": top + row * _HEIGHT,
                "width": _WIDTH,
                "height": _HEIGHT,
                "properties": _graph(graph, region, ids),
            }
        )
    return {"widgets": widgets}


def dimensions_of(metric: Metric, ids: Mapping[Subject, Any]) -> dict[str, Any]:
    """Return the dimensions of a metric, with the ids of what it measures."""
    return {
        name: ids[value] if isinstance(value, Subject) else value
        for name, value in metric.dimensions.items()
    }


def _alarm_widget(alarm_arns: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "alarm",
        "x": 0,
        "y": 0,
        "width": 24,
        "height": _ALARM_HEIGHT,
        "properties": {"title": "Alarms", "alarms": list(alarm_arns)},
    }


def _graph(graph: Graph, region: str, ids: Mapping[Subject, str]) -> dict[str, Any]:
    lines = (
        line
        for number, metric in enumerate(graph.metrics, 1)
        for line in _lines(metric, f"m{number}", ids)
    )
    return {
        "title": graph.title,
        "region": region,
        "view": "timeSeries",
        "metrics": list(lines),
        "yAxis": {"left": {"min": 0, "label": graph.unit, "showUnits": False}},
    }


def _lines(metric: Metric, id_: str, ids: Mapping[Subject, str]) -> Iterator[list[Any]]:
    flat = [text for pair in dimensions_of(metric, ids).items() for text in pair]
    options: dict[str, Any] = {"stat": metric.statistic, "period": metric.period_seconds}
    if metric.per_second:
        yield [{"expression": f"{id_}/PERIOD({id_})", "label": metric.label}]
        options |= {"id": id_, "visible": False}
    else:
        options["label"] = metric.label
    yield [metric.namespace, metric.name, *flat, options]
