"""The cases of what watches a stack; see `aws_cases`."""

from __future__ import annotations

import json

from tests.support.aws_cases import Case
from tests.support.node_metrics import WORKSPACE_ARN, WORKSPACE_ID
from tests.support.sandbox_aws import ODCR, PRIVATE_A, PRIVATE_B, Account

EVENTS = {"source": ["aws.ec2"], "detail-type": [{"prefix": "Capacity Block"}]}
HOST_LOG = "/aws/containerinsights/c/host"
PUBLISH = {
    "Sid": "Events",
    "Effect": "Allow",
    "Principal": {"Service": "events.amazonaws.com"},
    "Action": "sns:Publish",
}


def monitoring_cases(account: Account) -> list[Case]:
    """Return the cases of collectors, dashboards, alarms, rules, topics, associations."""
    topic: str = account.client("sns").create_topic(Name="alarms")["TopicArn"]
    return [
        *_of_prometheus(account),
        *_of_cloudwatch(account, topic),
        *_of_events(account, topic),
        *_of_node_metrics(),
        *_of_topics(topic),
    ]


def _of_prometheus(account: Account) -> list[Case]:
    scraped = account.cluster(
        "scraped",
        resourcesVpcConfig={"subnetIds": [PRIVATE_A, PRIVATE_B], "endpointPrivateAccess": True},
    )
    return [
        Case(
            "aws:amp/ruleGroupNamespace:RuleGroupNamespace",
            {"workspaceId": WORKSPACE_ID, "data": "groups: []\n", "tags": {"team": "a"}},
            {"data": "groups: [{name: c, rules: []}]\n"},
            {"name": "other"},
        ),
        Case(
            "aws:amp/scraper:Scraper",
            {
                "alias": "c-scraper",
                "destination": {"amp": {"workspaceArn": WORKSPACE_ARN}},
                "source": {
                    "eks": {
                        "clusterArn": scraped["arn"],
                        "securityGroupIds": [
                            scraped["resourcesVpcConfig"]["clusterSecurityGroupId"]
                        ],
                        "subnetIds": [PRIVATE_A, PRIVATE_B],
                    }
                },
                "scrapeConfiguration": "scrape_configs: []\n",
                "tags": {"team": "a"},
            },
            {"scrapeConfiguration": "global: {scrape_interval: 60s}\nscrape_configs: []\n"},
            {},
        ),
    ]


def _of_cloudwatch(account: Account, topic: str) -> list[Case]:
    account.client("logs").create_log_group(logGroupName=HOST_LOG)
    metric = {"namespace": "trainyard/c", "name": "GpuXidErrors", "value": "1"}
    return [
        Case(
            "aws:cloudwatch/metricAlarm:MetricAlarm",
            {
                "namespace": "AWS/EC2CapacityReservations",
                "metricName": "AvailableInstanceCount",
                "dimensions": {"CapacityReservationId": ODCR},
                "statistic": "Minimum",
                "comparisonOperator": "GreaterThanThreshold",
                "threshold": 0,
                "period": 300,
                "evaluationPeriods": 12,
                "treatMissingData": "notBreaching",
                "alarmActions": [topic],
                "tags": {"team": "a"},
            },
            {"threshold": 2},
            {"name": "other"},
        ),
        Case(
            "aws:cloudwatch/dashboard:Dashboard",
            {"dashboardName": "c", "dashboardBody": '{"widgets": []}'},
            {"dashboardBody": '{"start": "-PT3H", "widgets": []}'},
            {"dashboardName": "other"},
        ),
        Case(
            "aws:cloudwatch/logMetricFilter:LogMetricFilter",
            {
                "name": "GpuXidErrors",
                "logGroupName": HOST_LOG,
                "pattern": '"NVRM: Xid"',
                "metricTransformation": metric,
            },
            {"pattern": '"Xid (PCI"'},
            {"name": "other"},
            follows=frozenset({"metricTransformation"}),
            imported_as="{logGroupName}:{name}",
        ),
    ]


def _of_events(account: Account, topic: str) -> list[Case]:
    account.client("events").put_rule(Name="blocks", EventPattern=json.dumps(EVENTS))
    trust = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "scheduler.amazonaws.com"},
    }
    role = account.iam.create_role(
        RoleName="warnings",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    return [
        Case(
            "aws:cloudwatch/eventRule:EventRule",
            {"eventPattern": json.dumps(EVENTS), "tags": {"team": "a"}},
            {"description": "blocks"},
            {"name": "other"},
        ),
        Case(
            "aws:cloudwatch/eventTarget:EventTarget",
            {"rule": "blocks", "targetId": "topic", "arn": topic},
            None,
            {"targetId": "other"},
            imported_as="{rule}/{targetId}",
        ),
        Case(
            "aws:scheduler/schedule:Schedule",
            {
                "scheduleExpression": "at(2026-12-07T12:00:00)",
                "scheduleExpressionTimezone": "UTC",
                "flexibleTimeWindow": {"mode": "OFF"},
                "target": {"arn": topic, "roleArn": role, "input": "ends"},
            },
            {"scheduleExpression": "at(2026-12-14T12:00:00)"},
            {"name": "other"},
        ),
    ]


def _of_node_metrics() -> list[Case]:
    return [
        Case(
            "aws:ssm/association:Association",
            {
                "name": "AWS-RunShellScript",
                "associationName": "c-monitoring-gpu",
                "targets": [{"key": "tag:trainyard:node-metrics", "values": ["c/gpu"]}],
                "parameters": {"commands": "set -eu\ntrue\n"},
                "tags": {"team": "a"},
            },
            {"parameters": {"commands": "set -eu\nfalse\n"}},
            {},
        ),
    ]


def _of_topics(topic: str) -> list[Case]:
    policy = {"Version": "2012-10-17", "Statement": [{**PUBLISH, "Resource": topic}]}
    return [
        Case("aws:sns/topic:Topic", {"tags": {"team": "a"}}, {"displayName": "a"}, {"name": "b"}),
        Case(
            "aws:sns/topicPolicy:TopicPolicy",
            {"arn": topic, "policy": json.dumps(policy)},
            {"policy": json.dumps({**policy, "Id": "b"})},
        ),
        Case(
            "aws:sns/topicSubscription:TopicSubscription",
            {"topic": topic, "protocol": "email", "endpoint": "a@example.com"},
            None,
            {"endpoint": "b@example.com"},
        ),
    ]
