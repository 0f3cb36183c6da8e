"""The dashboard, the alarms, the topic and the filters of a stack, as resources."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.monitoring.conftest import MONITORED, changes_of
from tests.support.cloud import Cloud
from tests.support.monitoring import PROMETHEUS, WORKSPACE_ARN, WORKSPACE_ID
from tests.support.stacks import program_of
from trainyard.components.monitoring.resources import topic_policy

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
TOPIC = "arn:aws:sns:us-west-2:123456789012:alarms"
WIDTH = 24
ALARM_WIDGET_LIMIT = 100
"""https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html"""


@pytest.fixture
def built(deploy: Callable[..., Cloud]) -> Callable[..., Cloud]:
    """Return what a stack with monitoring registers."""

    def build(stack: str, **monitoring: Any) -> Cloud:
        changes = changes_of(stack, **monitoring)
        return deploy(program_of(stack, changes=changes), stack=stack)

    return build


def dashboard(cloud: Cloud) -> list[dict[str, Any]]:
    (found,) = cloud.of_type("aws:cloudwatch/dashboard:Dashboard")
    return json.loads(found.inputs["dashboardBody"])["widgets"]


@pytest.mark.parametrize("stack", MONITORED)
def test_a_dashboard_has_the_documented_structure(built: Callable[..., Cloud], stack: str) -> None:
    widgets = dashboard(built(stack, alarms={}))
    places = {(each["x"], each["y"]) for each in widgets}
    assert len(places) == len(widgets) > 1
    assert all(each["x"] + each["width"] <= WIDTH for each in widgets)
    alarms, *graphs = widgets
    assert alarms["type"] == "alarm"
    assert 0 < len(alarms["properties"]["alarms"]) <= ALARM_WIDGET_LIMIT
    for graph in graphs:
        assert graph["type"] == "metric"
        properties = graph["properties"]
        assert properties["region"] == "us-west-2"
        lines = properties["metrics"]
        for *names, options in lines:
            if names:
                # A namespace, a name, and pairs of the names and values of dimensions.
                assert len(names) % 2 == 0
                assert all(isinstance(name, str) and name for name in names)
                assert options["stat"] in {"Average", "Maximum", "Minimum", "Sum"}
                assert options["period"] in {60, 300}
            else:
                (id_,) = (
                    one["id"] for *_, one in lines if one.get("id", "-") in options["expression"]
                )
                assert options["expression"] == f"{id_}/PERIOD({id_})"


def test_throughput_is_a_rate(built: Callable[..., Cloud]) -> None:
    (throughput,) = (
        each["properties"]
        for each in dashboard(built("p5-cb"))
        if each["properties"].get("title") == "Throughput of data"
    )
    system = "p5-cb-storage-data-file-system-id"
    assert throughput["metrics"] == [
        [{"expression": "m1/PERIOD(m1)", "label": "read"}],
        [
            "AWS/FSx",
            "DataReadBytes",
            "FileSystemId",
            system,
            {"id": "m1", "period": 60, "stat": "Sum", "visible": False},
        ],
        [{"expression": "m2/PERIOD(m2)", "label": "written"}],
        [
            "AWS/FSx",
            "DataWriteBytes",
            "FileSystemId",
            system,
            {"id": "m2", "period": 60, "stat": "Sum", "visible": False},
        ],
    ]


def test_an_alarm_of_missing_nodes_subtracts_the_running_from_the_wanted(
    built: Callable[..., Cloud],
) -> None:
    cloud = built("p5-cb", alarms={})
    inputs = cloud.one("p5-cb-monitoring-nodes-missing-p5").inputs
    difference, wanted, running = inputs["metricQueries"]
    assert difference["expression"] == "metric - less"
    assert difference["returnData"] is True
    assert (wanted["id"], wanted["metric"]["metricName"]) == ("metric", "GroupDesiredCapacity")
    assert (running["id"], running["metric"]["metricName"]) == ("less", "GroupInServiceInstances")
    group = cloud.one("p5-cb-p5-nodes")
    assert wanted["metric"]["dimensions"] == running["metric"]["dimensions"]
    assert "metricName" not in inputs
    assert group.inputs["enabledMetrics"] == ["GroupDesiredCapacity", "GroupInServiceInstances"]
    assert group.inputs["metricsGranularity"] == "1Minute"


def test_a_group_of_a_stack_without_monitoring_sends_no_metrics(
    deploy: Callable[..., Cloud],
) -> None:
    group = deploy(program_of("p5-cb"), stack="p5-cb").one("p5-cb-p5-nodes")
    assert "enabledMetrics" not in group.inputs


def test_alarms_send_to_the_topic_of_the_stack_when_they_go_off_and_when_they_end(
    built: Callable[..., Cloud],
) -> None:
    cloud = built("batch-p5", alarms={"emails": ["ml-infra@example.com"]})
    (topic,) = cloud.of_type("aws:sns/topic:Topic")
    (subscription,) = cloud.of_type("aws:sns/topicSubscription:TopicSubscription")
    assert subscription.inputs["protocol"] == "email"
    assert subscription.inputs["endpoint"] == "ml-infra@example.com"
    unused = cloud.one("batch-p5-monitoring-reservation-unused-block")
    assert unused.inputs["alarmActions"] == unused.inputs["okActions"]
    assert topic.urn in unused.dependencies
    assert unused.inputs["treatMissingData"] == "notBreaching"
    targets = cloud.of_type("aws:cloudwatch/eventTarget:EventTarget")
    assert {each.inputs["arn"] for each in targets} == {*unused.inputs["alarmActions"]}
    assert len(targets) == len(["capacity-block", "queue-blocked"])


def test_an_existing_topic_receives_the_alarms(built: Callable[..., Cloud]) -> None:
    cloud = built("batch-p5", alarms={"topic_arn": TOPIC})
    assert cloud.of_type("aws:sns/topic:Topic") == []
    assert cloud.of_type("aws:sns/topicPolicy:TopicPolicy") == []
    assert {*map(str, cloud.of_type(ALARM)[0].inputs["alarmActions"])} == {TOPIC}


def test_a_stack_without_alarms_has_a_dashboard_and_figures_alone(
    built: Callable[..., Cloud],
) -> None:
    cloud = built("pc-gpu")
    assert cloud.of_type(ALARM) == []
    assert cloud.of_type("aws:sns/topic:Topic") == []
    assert [each["type"] for each in dashboard(cloud)] == ["metric"] * 11
    assert cloud.exports["monitoring"]["topic_arn"] is None


def test_a_stack_without_a_dashboard_has_alarms_and_figures(built: Callable[..., Cloud]) -> None:
    cloud = built("batch-p5", dashboard=False, alarms={})
    assert cloud.of_type("aws:cloudwatch/dashboard:Dashboard") == []
    monitoring = cloud.exports["monitoring"]
    assert monitoring["dashboard"] is None
    alarms = [*monitoring["alarms"]]
    assert alarms == ["gpus-idle", "efa-unresponsive", "efa-impaired", "reservation-unused-block"]
    titles = [each["title"] for each in monitoring["figures"]]
    assert (titles[0], titles[-1]) == ("Use of p5", "Reservation block")


def test_xid_errors_of_a_slurm_cluster_are_counted_in_its_log_group_once_it_exists(
    built: Callable[..., Cloud],
) -> None:
    cloud = built("pc-gpu")
    (counted,) = cloud.of_type("aws:cloudwatch/logMetricFilter:LogMetricFilter")
    assert counted.inputs["logGroupName"] == cloud.exports["log_group"]
    assert counted.inputs["metricTransformation"] == {
        "name": "GpuXidErrors",
        "namespace": "trainyard/pc-gpu",
        "value": "1",
    }
    assert cloud.one("pc-gpu-deployment").urn in counted.dependencies


def test_systems_manager_configures_the_agent_of_tagged_slurm_nodes(
    built: Callable[..., Cloud],
) -> None:
    cloud = built("pc-gpu")
    (agent,) = cloud.of_type("aws:ssm/association:Association")
    assert agent.inputs["name"] == "AWS-RunShellScript"
    assert agent.inputs["targets"] == [
        {"key": "tag:trainyard:node-metrics", "values": ["pc-gpu/gpu-efa"]}
    ]
    assert "append-config" in agent.inputs["parameters"]["commands"]


def test_alerts_of_prometheus_are_rules_in_the_workspace_which_may_publish_to_the_topic(
    built: Callable[..., Cloud],
) -> None:
    cloud = built("pc-gpu", **PROMETHEUS, alarms={})
    (rules,) = cloud.of_type("aws:amp/ruleGroupNamespace:RuleGroupNamespace")
    assert rules.inputs["workspaceId"] == WORKSPACE_ID
    (group,) = yaml.safe_load(rules.inputs["data"])["groups"]
    assert [each["alert"] for each in group["rules"]][:1] == ["gpus-idle"]
    assert "gpus-idle" not in cloud.exports["monitoring"]["alarms"]
    *_, alerts = json.loads(topic_policy(TOPIC, WORKSPACE_ARN))["Statement"]
    assert alerts["Principal"] == {"Service": "aps.amazonaws.com"}
    assert alerts["Action"] == ["sns:Publish", "sns:GetTopicAttributes"]
    assert alerts["Condition"] == {
        "ArnEquals": {"aws:SourceArn": WORKSPACE_ARN},
        "StringEquals": {"aws:SourceAccount": "123456789012"},
    }


def test_cloudwatch_and_eventbridge_may_publish_to_the_topic_of_the_stack() -> None:
    alarms, events = json.loads(topic_policy(TOPIC))["Statement"]
    assert alarms["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert alarms["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    assert events["Principal"] == {"Service": "events.amazonaws.com"}
    assert {each["Action"] for each in (alarms, events)} == {"sns:Publish"}
    assert {each["Resource"] for each in (alarms, events)} == {TOPIC}
