"""Notes on what users must do for alarms, and on what a stack does not measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.monitoring import PROMETHEUS
from tests.support.stacks import prepared

ALARMS = {"monitoring": {"alarms": {}}}
TOPIC = "arn:aws:sns:us-west-2:123456789012:ml-infra"


def notes(stack: str, changes: Mapping[str, Any]) -> str:
    return "\n".join(prepared(stack, changes=changes).plan.notes)


@pytest.mark.parametrize(
    ("alarms", "said"),
    [
        ({"emails": ["a@example.com"]}, "no message arrives until it is confirmed"),
        ({}, "the topic has no subscription"),
        ({"topic_arn": TOPIC}, ""),
    ],
)
def test_who_receives_alarms_is_told(alarms: Mapping[str, Any], said: str) -> None:
    found = notes("batch-p5", {"monitoring": {"alarms": alarms}})
    assert said in found
    assert ("monitoring.alarms" in found) == bool(said)


def test_a_cluster_without_the_addon_is_told_what_it_does_not_measure() -> None:
    said = "without the CloudWatch Observability add-on"
    assert said in notes("p5-cb", ALARMS)
    assert said not in notes("p5-cb", {})
    observed = {"architecture": {"addons": {"cloudwatch_observability": True}}}
    assert said not in notes("p5-cb", ALARMS | observed)
    assert said not in notes("p5-cb", {"monitoring": {"node_metrics": "cloudwatch"}})


@pytest.mark.parametrize(
    ("stack", "measured"),
    [("pc-gpu", True), ("pc-trn1", True), ("batch-p5", True), ("p5-cb", False)],
)
def test_nodes_of_slurm_and_batch_that_send_no_metrics_are_told(stack: str, measured: bool) -> None:
    said = "what the CloudWatch agent measures"
    assert (said in notes(stack, ALARMS)) == measured
    assert said not in notes(stack, {"monitoring": {"node_metrics": "cloudwatch"}})
    assert said not in notes(stack, {})


@pytest.mark.parametrize("stack", ["p5-cb", "pc-gpu", "batch-p5"])
def test_it_is_told_that_the_dashboard_lacks_what_goes_to_prometheus(stack: str) -> None:
    assert "go to the workspace" in notes(stack, {"monitoring": PROMETHEUS})
    assert "what the CloudWatch agent measures" not in notes(stack, {"monitoring": PROMETHEUS})


def test_a_slurm_cluster_is_told_which_of_its_settings_the_alarms_need() -> None:
    def own(**monitoring: bool) -> Mapping[str, Any]:
        return ALARMS | {"architecture": {"monitoring": monitoring}}

    assert "architecture.monitoring.dashboard" in notes("pc-gpu", own(dashboard=False))
    assert "architecture.monitoring.logs" in notes("pc-gpu", own(logs=False))
    assert "ParallelCluster counts" not in notes("pc-gpu", own(dashboard=True))


def test_a_slurm_cluster_without_logs_has_the_alarms_of_its_reservations_alone() -> None:
    changes = ALARMS | {"architecture": {"monitoring": {"logs": False}}}
    plan = prepared("pc-gpu", changes=changes).plan.monitoring_plan
    assert plan is not None
    assert plan.alarms is not None
    assert [alarm.name for alarm in plan.alarms.alarms] == ["reservation-unused-training"]
    assert plan.log_metrics == ()
