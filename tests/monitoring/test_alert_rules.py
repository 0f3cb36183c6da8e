"""Alerts of Prometheus are the alarms of CloudWatch, on the series that nodes send."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.monitoring.conftest import monitoring_of
from tests.support.monitoring import PROMETHEUS, WORKSPACE_ARN, WORKSPACE_ID
from tests.support.stacks import prepared
from trainyard.components.monitoring.plan import RulesPlan

ALERTS = {
    "p5-cb": ["nodes-failed", "gpus-idle", "gpu-xid", "efa-unresponsive", "efa-impaired"],
    "eks-trn1": ["nodes-failed", "neuron-cores-idle", "efa-unresponsive", "efa-impaired"],
    "pc-gpu": ["gpus-idle", "efa-unresponsive", "efa-impaired"],
    "batch-p5": ["gpus-idle", "efa-unresponsive", "efa-impaired"],
}
"""Names of alerts, by stack."""


def rules_of(stack: str, **monitoring: Any) -> RulesPlan | None:
    changes = {"monitoring": {**PROMETHEUS, "alarms": {}, **monitoring}}
    plan = prepared(stack, changes=changes).plan.monitoring_plan
    assert plan is not None
    return plan.alarms.rules if plan.alarms else None


def alerts_of(stack: str, **monitoring: Any) -> list[dict[str, Any]]:
    rules = rules_of(stack, **monitoring)
    assert rules is not None
    (group,) = yaml.safe_load(rules.file)["groups"]
    return group["rules"]


@pytest.mark.parametrize("stack", ALERTS)
def test_an_alert_has_the_name_the_threshold_and_the_time_of_an_alarm(stack: str) -> None:
    cloudwatch = monitoring_of(stack).alarms
    assert cloudwatch is not None
    alarms = {alarm.name: alarm for alarm in cloudwatch.alarms}
    found = alerts_of(stack)
    assert [each["alert"] for each in found] == ALERTS[stack]
    for each in found:
        alarm = alarms[each["alert"]]
        assert each["expr"].endswith(f" {alarm.threshold:g}")
        minutes = alarm.periods * 5 if alarm.periods > 1 else 0
        assert each["for"] == f"{minutes}m"
        assert each["labels"] == {"cluster": stack}
        if each["alert"] != "gpu-xid":
            assert each["annotations"] == {"description": alarm.description}


def test_the_message_of_an_xid_error_names_no_log_group_that_the_stack_does_not_have() -> None:
    (xid,) = (each for each in alerts_of("p5-cb") if each["alert"] == "gpu-xid")
    assert "containerinsights" not in xid["annotations"]["description"]
    assert "`dmesg` on the node" in xid["annotations"]["description"]


def test_the_time_of_idle_accelerators_is_that_of_the_stack_file() -> None:
    idle = [
        each
        for each in alerts_of("p5-cb", alarms={"idle_minutes": 90})
        if each["alert"] == "gpus-idle"
    ]
    assert [each["for"] for each in idle] == ["90m"]


def test_the_rules_are_in_the_workspace_of_the_stack_file() -> None:
    rules = rules_of("pc-gpu")
    assert rules is not None
    assert (rules.workspace_arn, rules.workspace_id) == (WORKSPACE_ARN, WORKSPACE_ID)


@pytest.mark.parametrize("stack", ALERTS)
def test_a_stack_without_alarms_or_with_metrics_in_cloudwatch_has_no_rules(stack: str) -> None:
    assert rules_of(stack, alarms=None) is None
    cloudwatch = monitoring_of(stack).alarms
    assert cloudwatch is not None
    assert cloudwatch.rules is None
