"""The newest figures and the alarms of a stack with `monitoring`, for `status`.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

RECENT = timedelta(minutes=20)
"""Age of the oldest value shown: four periods of 5 minutes, because metrics arrive late."""
QUERIES = 500
"""Most metrics of one request."""
ALARM_NAMES = 100
"""Most names of one request."""
_GIB = 2**30


def monitored(
    output: Mapping[str, Any], cloudwatch: Any, now: datetime
) -> Iterator[tuple[str, str]]:
    """Yield the figures of the stack output `monitoring` and the state of its alarms.

    Args:
        output: The stack output.
        cloudwatch: A boto3 client.
        now: The time.
    """
    try:
        yield from _figures(output.get("figures", []), cloudwatch, now)
        yield from _alarms(output.get("alarms", {}), cloudwatch)
    except (BotoCoreError, ClientError) as error:
        yield "monitoring", f"cannot be read: {error}"


def _figures(
    figures: Sequence[Mapping[str, Any]], cloudwatch: Any, now: datetime
) -> Iterator[tuple[str, str]]:
    metrics = [metric for figure in figures for metric in figure["metrics"]]
    values = _newest(metrics, cloudwatch, now)
    for figure in figures:
        shown = [
            f"{metric['label']} {_value(values.pop(0), metric, str(figure['unit']))}"
            for metric in figure["metrics"]
        ]
        yield str(figure["title"]), f"{', '.join(shown)} {_noun(str(figure['unit']))}".rstrip()


def _newest(
    metrics: Sequence[Mapping[str, Any]], cloudwatch: Any, now: datetime
) -> list[float | None]:
    values: dict[str, float] = {}
    queries = [_query(f"m{number}", metric) for number, metric in enumerate(metrics)]
    for first in range(0, len(queries), QUERIES):
        pages = cloudwatch.get_paginator("get_metric_data").paginate(
            MetricDataQueries=queries[first : first + QUERIES],
            StartTime=now - RECENT,
            EndTime=now,
            ScanBy="TimestampDescending",
        )
        for page in pages:
            for found in page["MetricDataResults"]:
                if found["Values"]:
                    values.setdefault(found["Id"], float(found["Values"][0]))
    return [values.get(query["Id"]) for query in queries]


def _query(id_: str, metric: Mapping[str, Any]) -> dict[str, Any]:
    dimensions = [{"Name": name, "Value": value} for name, value in metric["dimensions"].items()]
    return {
        "Id": id_,
        "MetricStat": {
            "Metric": {
                "Namespace": metric["namespace"],
                "MetricName": metric["name"],
                "Dimensions": dimensions,
            },
            "Period": int(metric["period_seconds"]),
            "Stat": metric["statistic"],
        },
    }


def _value(value: float | None, metric: Mapping[str, Any], unit: str) -> str:
    if value is None:
        return "none"
    if metric["per_second"]:
        value /= int(metric["period_seconds"])
    if unit.startswith("bytes"):
        return f"{value / _GIB:.2f}"
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


def _noun(unit: str) -> str:
    return {"percent": "%", "bytes": "GiB", "bytes/s": "GiB/s"}.get(unit, unit)


def _alarms(names: Mapping[str, str], cloudwatch: Any) -> Iterator[tuple[str, str]]:
    if not names:
        return
    given = list(names.values())
    states: dict[str, str] = {}
    for first in range(0, len(given), ALARM_NAMES):
        wanted = given[first : first + ALARM_NAMES]
        answer = cloudwatch.describe_alarms(AlarmNames=wanted, MaxRecords=ALARM_NAMES)
        states |= {each["AlarmName"]: each["StateValue"] for each in answer["MetricAlarms"]}
    raised = [short for short, name in names.items() if states.get(name) == "ALARM"]
    gone = [short for short, name in names.items() if name not in states]
    yield "alarms", f"{', '.join(raised) or 'none'} of {len(names)}"
    if gone:
        yield "alarms deleted", ", ".join(gone)
