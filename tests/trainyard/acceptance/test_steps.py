"""The steps of an acceptance: what they run, how they are judged, and how they are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainyard.acceptance.report import ComparedTime, as_html, as_json, compared_times, report_of
from trainyard.acceptance.steps import Done, Interruption, Record, Step, judged, read_record
from trainyard.sandbox.latency.model import latency_model

STEP = Step(name="up", arguments=("up", "dev", "--yes"), proves="it comes up")
AGAIN = Step(
    name="up again",
    arguments=("up", "dev"),
    proves="nothing differs",
    unchanged=True,
    says="Resources: 0 changed",
)
CHANGE = Step(name="change", arguments=("up", "dev"), proves="it changes", in_place=True)
RUN = Step(
    name="run",
    arguments=("run", "dev"),
    proves="it ends",
    interruption=Interruption(after="step 5", arguments=("cancel", "dev", "train")),
)
PASSED = Done(name="up", result="pass", seconds=3.0, reason="")
FAILED = Done(name="test", result="fail", seconds=1.0, reason="exit code 1: <error> no nodes")


def record(tmp_path: Path, *done: Done) -> Record:
    made = Record(directory=tmp_path, stack="dev", sandbox=False, began="2026-11-24T00:00:00+00:00")
    for each in done:
        made.add(each)
    return made


@pytest.mark.parametrize(
    ("step", "exit_code", "said", "result", "reason"),
    [
        (STEP, 0, "created aws:eks:Cluster x (9 min)\n", "pass", ""),
        (STEP, 1, "a\nerror: no capacity\nb\n", "fail", "exit code 1: error: no capacity"),
        (STEP, 2, "a\nthe end\n", "fail", "exit code 2: the end"),
        (STEP, None, "", "stopped", "the time limit was reached"),
        (AGAIN, 0, "Resources: 0 changed, 65 unchanged\n", "pass", ""),
        (AGAIN, 0, "", "fail", "no line matches 'Resources: 0 changed'"),
        (AGAIN, 0, "x\nupdated aws:eks:Cluster c\n", "fail", "it changed the stack: updated aws"),
        (AGAIN, 0, "found deleted aws:eks:Addon a\n", "fail", "found deleted aws:eks:Addon a"),
        (AGAIN, 0, "Resources: 2 changed, 63 unchanged\n", "fail", "Resources: 2 changed"),
        (CHANGE, 0, "updated aws:eks:NodeGroup n (1 min)\n", "pass", ""),
        (CHANGE, 0, "Resources: 0 changed, 65 unchanged\n", "fail", "it updated nothing"),
        (
            CHANGE,
            0,
            "updated aws:eks:NodeGroup n\nreplaced aws:ec2:LaunchTemplate l\n",
            "fail",
            "it changed more than it should: replaced aws:ec2:LaunchTemplate l",
        ),
    ],
)
def test_a_step_is_judged_by_its_exit_code_and_its_changes(
    step: Step, exit_code: int | None, said: str, result: str, reason: str
) -> None:
    done = judged(step, exit_code, said, 1.23)
    assert (done.name, done.result, done.seconds) == (step.name, result, 1.2)
    assert reason in done.reason
    assert bool(done.reason) == bool(reason)


@pytest.mark.parametrize(
    ("exit_code", "interrupted", "result", "reason"),
    [
        (143, True, "pass", ""),
        (1, True, "pass", ""),
        (0, True, "fail", "it ended before `cancel` had ended it"),
        (0, False, "fail", "it ended before `cancel` had ended it"),
        (1, False, "fail", "exit code 1: error: no nodes"),
        (None, False, "stopped", "the time limit was reached"),
    ],
)
def test_a_step_that_is_ended_in_the_middle_must_not_end_by_itself(
    exit_code: int | None, interrupted: bool, result: str, reason: str
) -> None:
    done = judged(RUN, exit_code, "error: no nodes\n", 1, interrupted=interrupted)
    assert (done.result, done.reason) == (result, reason)


def test_an_interrupted_acceptance_is_read_again(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    made = record(tmp_path, PASSED, FAILED)
    made.before, made.after = ["vpc-1"], ["vpc-1", "eni-2"]
    made.save()
    again = read_record(tmp_path)
    assert again is not None
    assert (again.has_done("up"), again.has_done("destroy")) == (True, False)
    assert again.failed == [FAILED]
    assert again.left_behind == ["eni-2"]


def test_a_step_that_was_stopped_is_repeated_and_has_one_result(tmp_path: Path) -> None:
    made = record(tmp_path, Done(name="up", result="stopped", seconds=1.0, reason="limit"))
    assert not made.has_done("up")
    made.add(PASSED)
    assert made.done == [PASSED]


SAID = """\
created aws:eks:Cluster dev-eks-eksCluster (9 min 12 s)
created aws:ec2:NatGateway dev-nat (10 s)
created aws:ec2:NatGateway dev-nat-b (1 h 4 min)
created aws:iam:Role dev-role (1 s)
created aws:ec2:Eip dev-eip
"""


def test_times_are_compared_with_those_that_are_assumed() -> None:
    eks, nat = sorted(compared_times(SAID), key=lambda each: each.type, reverse=True)
    types = latency_model().types
    assert (eks.type, eks.seen_seconds) == ("aws:eks:Cluster", 552)
    assert eks.assumed_seconds == types["aws:eks/cluster:Cluster"][0].seconds["create"]
    assert (nat.type, nat.seen_seconds) == ("aws:ec2:NatGateway", 3840)
    assert (eks.confirmed, nat.confirmed) == (True, False)


def test_the_report_has_every_step_and_nothing_of_another_host(tmp_path: Path) -> None:
    made = record(tmp_path, PASSED, FAILED)
    made.after = ["arn:aws:ec2:eni/<x>"]
    compared = [ComparedTime(type="aws:eks:Cluster", assumed_seconds=600, seen_seconds=590)]
    report = report_of(made, compared)
    values = json.loads(as_json(report))
    assert values["passed"] is False
    assert [each["result"] for each in values["steps"]] == ["pass", "fail"]
    assert values["times"][0]["confirmed"] is True
    page = as_html(report)
    assert "&lt;error&gt; no nodes" in page
    assert "arn:aws:ec2:eni/&lt;x&gt;" in page
    assert '<tr class="confirmed">' in page
    assert "http" not in page
