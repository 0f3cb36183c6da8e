"""The display of an operation, from the events of a recorded `up` of p5-cb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from trainyard.changes.steps import steps_of_events
from trainyard.progress.display import Display, Messages, change_list, ended_line, region
from trainyard.progress.operation import Operation, short_type
from trainyard.sandbox.latency.model import latency_model

RECORDED = ROOT / "tests" / "goldens" / "progress"
CLUSTER = "p5-cb-eks-eksCluster"
AWS = latency_model().seconds


def events(name: str) -> list[dict]:
    return [json.loads(line) for line in lines(name)]


def lines(name: str) -> list[str]:
    return (RECORDED / f"p5-cb-{name}.events").read_text().splitlines()


def creating_the_cluster() -> tuple[Operation, int, int]:
    """Return the operation just after the control plane began, with that time and the first one."""
    operation = Operation(AWS)
    for event in events("preview"):
        operation.read(event)
    update = events("update")
    for event in update:
        operation.read(event)
        begun = [each for each in operation.running.values() if each.name == CLUSTER]
        if begun:
            return operation, begun[0].began, update[0]["timestamp"]
    raise AssertionError("the recording has no cluster")


@pytest.mark.parametrize("width", [80, 120])
def test_the_region_says_what_runs_for_how_long_and_what_is_left(golden, width):
    operation, now, began = creating_the_cluster()
    shown = region(operation, "up p5-cb", now=now + 75, began=began, width=width)
    assert max(map(len, shown)) <= width
    assert any(CLUSTER in line and "typically 9 min" in line for line in shown)
    golden(f"progress/region-{width}.txt", "\n".join(shown) + "\n")


def test_the_name_of_what_runs_is_complete_in_80_columns():
    operation = Operation(AWS)
    for event in events("preview"):
        operation.read(event)
    roles = [
        each["resourcePreEvent"]
        for each in events("update")
        if "ClusterRoleBinding" in str(each.get("resourcePreEvent"))
    ]
    operation.read({"timestamp": 1, "resourcePreEvent": roles[0]})
    name = roles[0]["metadata"]["urn"].rpartition("::")[2]
    (line,) = region(operation, "up p5-cb", now=2, began=1, width=78)[1:]
    assert line == f"  creating ClusterRoleBinding {name} (1 s)"


@pytest.mark.parametrize("width", [80, 120])
def test_the_planned_changes_name_every_resource_in_the_width(golden, width):
    steps = steps_of_events(lines("preview"))
    shown = change_list(steps, width=width)
    assert max(map(len, shown)) <= width
    assert shown[-1] == "39 to create; 0 unchanged"
    golden(f"progress/changes-{width}.txt", "\n".join(shown) + "\n")


def test_what_is_left_begins_with_the_longest_resource_and_ends_with_nothing():
    operation = Operation(AWS)
    for event in events("preview"):
        operation.read(event)
    assert operation.seconds_left(0) == 540
    update = events("update")
    for event in update:
        operation.read(event)
    assert operation.seconds_left(update[-1]["timestamp"]) == 0
    # The number that the engine counts.
    assert (
        operation.done == operation.total == update[-1]["summaryEvent"]["resourceChanges"]["create"]
    )


def step(
    kind: str, operation: str, type_: str = "aws:eks/cluster:Cluster", **facts: object
) -> dict:
    urn = f"urn:pulumi:s::trainyard::{type_}::s-it"
    metadata = {"op": operation, "urn": urn, "type": type_, "new": {"custom": True}, **facts}
    return {"timestamp": 10, kind: {"metadata": metadata}}


@pytest.mark.parametrize(
    ("begun", "end", "said"),
    [
        (step("resourcePreEvent", "create"), step("resOutputsEvent", "create"), "created"),
        (step("resourcePreEvent", "update"), step("resOpFailedEvent", "update"), "failed updating"),
        (
            step("resourcePreEvent", "delete", old={"retainOnDelete": True}),
            step("resOutputsEvent", "delete", old={"retainOnDelete": True}),
            "kept",
        ),
        (step("resourcePreEvent", "refresh"), step("resOutputsEvent", "delete"), "found deleted"),
    ],
)
def test_an_ended_operation_is_one_line(begun, end, said):
    operation = Operation(AWS)
    operation.read(begun)
    ended = operation.read({**end, "timestamp": 562})
    assert ended_line(ended) == f"{said} aws:eks:Cluster s-it (9 min 12 s)"


def test_an_unchanged_resource_of_a_refresh_is_counted_and_not_listed():
    operation = Operation(AWS)
    operation.read(step("resourcePreEvent", "refresh"))
    assert ended_line(operation.read(step("resOutputsEvent", "refresh"))) == ""
    assert operation.done == 1


def test_messages_of_the_preview_are_not_repeated_by_the_update():
    violation = {
        "policyEvent": {
            "resourceUrn": "urn:pulumi:s::trainyard::aws:ec2/vpc:Vpc::s-vpc",
            "message": "What it is for.\nWhat is wrong.\n",
            "policyName": "some-rule",
            "enforcementLevel": "advisory",
        }
    }
    error = {"diagnosticEvent": {"severity": "error", "prefix": "error: ", "message": "no\n"}}
    debug = {"diagnosticEvent": {"severity": "debug", "prefix": "debug: ", "message": "rpc\n"}}
    messages = Messages()
    said = [messages.read(event) for event in (violation, error, debug, violation, error)]
    assert said == [
        "[advisory] some-rule (aws:ec2:Vpc s-vpc)\n  What it is for.\n  What is wrong.",
        "error: no",
        "",
        "",
        "",
    ]


def test_without_a_terminal_every_line_stays_and_long_operations_are_announced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    display = Display("up p5-cb", tmp_path / "up.log", AWS)
    with display.following(lists_changes=True):
        for line in [*lines("preview"), *lines("update"), "{cut off"]:
            display.see(line)
    said = capsys.readouterr().out.splitlines()
    assert "39 to create; 0 unchanged" in said
    assert f"creating aws:eks:Cluster {CLUSTER} (typically 9 min)" in said
    assert sum(line.startswith("created ") for line in said) == 39
    assert display.log_path.stat().st_mode & 0o077 == 0


def test_a_confirmed_operation_counts_towards_its_preview(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    display = Display("up p5-cb", tmp_path / "up.log", AWS)
    with display.following(lists_changes=True):
        for line in lines("preview"):
            display.see(line)
    with display.following(lists_changes=False):
        display.see(lines("update")[0])
        assert (display.operation.done, display.operation.total) == (0, 65)
    assert capsys.readouterr().out.count("39 to create") == 1


def test_types_are_short():
    assert short_type("aws:eks/cluster:Cluster") == "aws:eks:Cluster"
    assert short_type("kubernetes:apps/v1:DaemonSet") == "kubernetes:apps/v1:DaemonSet"


def test_the_policy_packs_that_have_run_are_named_once():
    packs = {"trainyard|local|/home/me/trainyard/policies": "0.1.0", "company": "2.0.0"}
    preview = {"summaryEvent": {"isPreview": True, "PolicyPacks": packs}}
    update = {"summaryEvent": {"isPreview": False, "PolicyPacks": packs}}
    messages = Messages()
    said = "checked by the policy pack company@2.0.0, trainyard@0.1.0"
    assert [messages.read(event) for event in (preview, update)] == [said, ""]
    assert messages.read({"summaryEvent": {"isPreview": True}}) == ""
