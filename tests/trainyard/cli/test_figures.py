"""`status` shows the newest value of every metric, and the alarms that went off."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from trainyard.monitoring.figures import ALARM_NAMES, QUERIES, RECENT, monitored

NOW = datetime(2026, 11, 25, 14, 0, tzinfo=UTC)


class CloudWatch:
    """Answers with values by the name of a metric, newest first, and with states of alarms."""

    def __init__(
        self, values: dict[str, list[float]] | None = None, states: dict[str, str] | None = None
    ) -> None:
        self._values, self._states = values or {}, states or {}
        self.requests: list[dict[str, Any]] = []

    def get_paginator(self, operation: str) -> CloudWatch:
        assert operation == "get_metric_data"
        return self

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:
        self.requests.append(request)
        for query in request["MetricDataQueries"]:
            name = query["MetricStat"]["Metric"]["MetricName"]
            yield {"MetricDataResults": [{"Id": query["Id"], "Values": self._values.get(name, [])}]}

    def describe_alarms(self, **request: Any) -> dict[str, Any]:
        assert len(request["AlarmNames"]) <= ALARM_NAMES
        return {
            "MetricAlarms": [
                {"AlarmName": name, "StateValue": self._states[name]}
                for name in request["AlarmNames"]
                if name in self._states
            ]
        }


class Refusing(CloudWatch):
    """Refuses every request."""

    def paginate(self, **request: Any) -> Iterator[dict[str, Any]]:
        del request
        answer = {"Error": {"Code": "AccessDenied", "Message": "not authorized"}}
        raise ClientError(answer, "GetMetricData")  # pyright: ignore[reportArgumentType]


def metric(name: str, label: str, **changes: Any) -> dict[str, Any]:
    return {
        "namespace": "AWS/FSx",
        "name": name,
        "dimensions": {"FileSystemId": "fs-1"},
        "statistic": "Sum",
        "period_seconds": 60,
        "per_second": False,
        "label": label,
        **changes,
    }


def figure(title: str, unit: str, *metrics: dict[str, Any]) -> dict[str, Any]:
    return {"title": title, "unit": unit, "metrics": [*metrics]}


def test_the_newest_values_are_shown_with_the_unit_of_the_graph() -> None:
    output = {
        "figures": [
            figure(
                "Throughput of data",
                "bytes/s",
                metric("DataReadBytes", "read", per_second=True),
                metric("DataWriteBytes", "written", per_second=True),
            ),
            figure("Free space of data", "bytes", metric("FreeDataStorageCapacity", "free")),
            figure("Nodes of p5", "nodes", metric("Desired", "wanted"), metric("Run", "running")),
            figure("GPU utilization", "percent", metric("node_gpu_utilization", "average")),
        ]
    }
    values = {
        "DataReadBytes": [60 * 2.5 * 2**30, 1.0],
        "FreeDataStorageCapacity": [1200 * 2**30],
        "Desired": [4],
        "Run": [3],
        "node_gpu_utilization": [97.25],
    }
    assert [*monitored(output, CloudWatch(values), NOW)] == [
        ("Throughput of data", "read 2.50, written none GiB/s"),
        ("Free space of data", "free 1200.00 GiB"),
        ("Nodes of p5", "wanted 4, running 3 nodes"),
        ("GPU utilization", "average 97.2 %"),
    ]


def test_a_query_is_that_of_the_graph_over_the_last_minutes() -> None:
    client = CloudWatch()
    output = {"figures": [figure("Free space", "bytes", metric("FreeDataStorageCapacity", "free"))]}
    assert [*monitored(output, client, NOW)] == [("Free space", "free none GiB")]
    (request,) = client.requests
    assert (request["StartTime"], request["EndTime"]) == (NOW - RECENT, NOW)
    assert request["ScanBy"] == "TimestampDescending"
    assert request["MetricDataQueries"] == [
        {
            "Id": "m0",
            "MetricStat": {
                "Metric": {
                    "Namespace": "AWS/FSx",
                    "MetricName": "FreeDataStorageCapacity",
                    "Dimensions": [{"Name": "FileSystemId", "Value": "fs-1"}],
                },
                "Period": 60,
                "Stat": "Sum",
            },
        }
    ]


def test_more_metrics_than_one_request_may_have_are_asked_in_several() -> None:
    client = CloudWatch()
    many = [metric(f"m{number}", "a") for number in range(QUERIES + 1)]
    assert len([*monitored({"figures": [figure("All", "", *many)]}, client, NOW)]) == 1
    assert [len(each["MetricDataQueries"]) for each in client.requests] == [QUERIES, 1]


def test_alarms_that_went_off_are_named() -> None:
    output = {"alarms": {"gpu-xid": "a-1", "gpus-idle": "a-2", "nodes-failed": "a-3"}}
    states = {"a-1": "ALARM", "a-2": "OK", "a-3": "ALARM"}
    assert [*monitored(output, CloudWatch(states=states), NOW)] == [
        ("alarms", "gpu-xid, nodes-failed of 3")
    ]
    assert [*monitored(output, CloudWatch(states=dict.fromkeys(states, "OK")), NOW)] == [
        ("alarms", "none of 3")
    ]


def test_alarms_that_someone_deleted_are_named() -> None:
    output = {"alarms": {"gpu-xid": "a-1", "gpus-idle": "a-2"}}
    assert [*monitored(output, CloudWatch(states={"a-1": "OK"}), NOW)] == [
        ("alarms", "none of 2"),
        ("alarms deleted", "gpus-idle"),
    ]


def test_an_account_without_permission_is_a_fact_and_no_failure() -> None:
    output = {"figures": [figure("Free space", "bytes", metric("Free", "free"))]}
    ((name, said),) = monitored(output, Refusing(), NOW)
    assert name == "monitoring"
    assert "AccessDenied" in said


def test_values_of_late_metrics_are_within_the_asked_time() -> None:
    assert timedelta(minutes=3 * 5) <= RECENT
