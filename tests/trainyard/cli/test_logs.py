"""The log group of each architecture, and its lines in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from trainyard.commands.jobs.logs import lines_of
from trainyard.schedulers.registry import scheduler_of
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of


def event(number: int, at_ms: int) -> dict[str, Any]:
    return {
        "eventId": str(number),
        "timestamp": at_ms,
        "logStreamName": "ip-10-0-0-1.i-1.slurmctld",
        "message": f"line {number}\n",
    }


class Logs:
    """A client with given answers, one for each query."""

    def __init__(self, *answers: list[dict[str, Any]]) -> None:
        self._answers = iter(answers)
        self.asked: list[dict[str, Any]] = []

    def get_paginator(self, operation: str) -> Logs:
        assert operation == "filter_log_events"
        return self

    def paginate(self, **asked: Any) -> list[dict[str, Any]]:
        self.asked.append(asked)
        return [{"events": next(self._answers)}]


@pytest.mark.parametrize(
    ("stack", "group"),
    [
        ("p5-cb", "/aws/eks/train/cluster"),
        ("batch-p5", "/aws/batch/job"),
        ("pc-gpu", "/aws/parallelcluster/train-202611231600"),
    ],
)
def test_each_scheduler_has_its_group(stack: str, group: str) -> None:
    outputs = {"log_group": "/aws/parallelcluster/train-202611231600"}
    target = target_of(find_stack_file(stack), sandbox=False)
    assert scheduler_of(target).log_group("train", lambda: outputs) == group


def test_a_network_sends_no_logs(trainyard: Callable[..., Result]) -> None:
    result = trainyard("logs", "vpc-one-az")
    assert "vpc-one-az sends no logs to CloudWatch Logs" in result.stderr


def test_a_line_has_time_and_stream() -> None:
    client = Logs([event(1, 1_000)])
    (line,) = lines_of(client, "/group", "ip-10-0-0-1", start_ms=0)
    assert line == "1970-01-01T00:00:01Z ip-10-0-0-1.i-1.slurmctld line 1"
    assert client.asked == [
        {"logGroupName": "/group", "startTime": 0, "logStreamNamePrefix": "ip-10-0-0-1"}
    ]


def test_following_repeats_no_line_and_loses_none_of_the_same_moment() -> None:
    client = Logs([event(1, 5)], [event(1, 5), event(2, 5)], [event(2, 5), event(3, 9)])
    lines = lines_of(client, "/group", "", start_ms=0, pause=lambda _: None)
    assert [next(lines).rsplit(" ", 1)[1] for _ in range(3)] == ["1", "2", "3"]
    assert [each["startTime"] for each in client.asked] == [0, 5, 5]


def test_a_stack_without_logs_says_so(trainyard) -> None:
    result = trainyard("logs", "vpc-one-az")
    assert result.exit_code == 2
    assert "vpc-one-az sends no logs to CloudWatch Logs" in result.stderr
