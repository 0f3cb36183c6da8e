"""The body of a CloudWatch dashboard.

Source:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.monitoring.plan import Graph, Metric

_COLUMNS = 3
_WIDTH = 24 // _COLUMNS
"""A dashboard is 24 units wide."""
_HEIGHT = 6
_ALARM_HEIGHT = 3
_PERIOD_SECONDS = 300


def dashboard_body(
    graphs: Sequence[Graph],
    *,
    region: str,
    alarm_arns: Sequence[str] = (),
    file_system_ids: Mapping[str, str],
) -> dict[str, Any]:
    """Return a dashboard with the state of the alarms first and three graphs in a row.

    Args:
        graphs: The graphs, in order.
        region: Region of the metrics.
        alarm_arns: Alarms of the stack.
        file_system_ids: Ids of the file systems, by name.
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
                "properties": _graph(graph, region, file_system_ids),
            }
        )
    return {"widgets": widgets}


def dimensions_of(metric: Metric, file_system_ids: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dimensions of a metric, with the id of its file system."""
    if metric.file_system is None:
        return dict(metric.dimensions)
    return {**metric.dimensions, "FileSystemId": file_system_ids[metric.file_system]}


def _alarm_widget(alarm_arns: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "alarm",
        "x": 0,
        "y": 0,
        "width": 24,
        "height": _ALARM_HEIGHT,
        "properties": {"title": "Alarms", "alarms": list(alarm_arns)},
    }


def _graph(graph: Graph, region: str, file_system_ids: Mapping[str, str]) -> dict[str, Any]:
    return {
        "title": graph.title,
        "region": region,
        "view": "timeSeries",
        "period": _PERIOD_SECONDS,
        "metrics": [_line(metric, file_system_ids) for metric in graph.metrics],
        "yAxis": {"left": {"min": 0, "label": graph.unit, "showUnits": False}},
    }


def _line(metric: Metric, file_system_ids: Mapping[str, str]) -> list[Any]:
    dimensions = dimensions_of(metric, file_system_ids)
    flat = [text for pair in dimensions.items() for text in pair]
    return [
        metric.namespace,
        metric.name,
        *flat,
        {"stat": metric.statistic, "label": metric.label},
    ]
