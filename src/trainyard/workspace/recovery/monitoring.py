"""Collectors, dashboards, alarms, rules, schedules, topics, associations of Systems Manager.

Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/ (section "Import" of each
type).
"""

from __future__ import annotations

from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import Account, Found, tag_map, tag_of
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_name, by_tag, repeated


def _alarm(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    found = account.all("cloudwatch", "describe_alarms", "MetricAlarms", AlarmNames=[name])
    client = account.client("cloudwatch")
    return [
        Found(
            name, tags=tag_map(client.list_tags_for_resource(ResourceARN=each["AlarmArn"])["Tags"])
        )
        for each in found
    ]


def _rule(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    found = account.all("events", "list_rules", "Rules", NamePrefix=name)
    client = account.client("events")
    return [
        Found(name, tags=tag_map(client.list_tags_for_resource(ResourceARN=each["Arn"])["Tags"]))
        for each in found
        if each["Name"] == name
    ]


def _schedule(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    found = account.all("scheduler", "list_schedules", "Schedules", NamePrefix=name)
    return [Found(f"{each['GroupName']}/{name}") for each in found if each["Name"] == name]


def _topic(account: Account, create: PendingCreate) -> list[Found]:
    topics = account.all("sns", "list_topics", "Topics")
    arns = [each["TopicArn"] for each in topics]
    client = account.client("sns")
    return [
        Found(arn, tags=tag_map(client.list_tags_for_resource(ResourceArn=arn)["Tags"]))
        for arn in arns
        if arn.endswith(f":{create.inputs['name']}")
    ]


def _association(account: Account, create: PendingCreate) -> list[Found]:
    named = [{"key": "AssociationName", "value": create.inputs["associationName"]}]
    found = account.all("ssm", "list_associations", "Associations", AssociationFilterList=named)
    client = account.client("ssm")
    return [
        Found(id_)
        for id_ in (each["AssociationId"] for each in found)
        if tag_map(
            client.list_tags_for_resource(ResourceType="Association", ResourceId=id_)["TagList"]
        ).get(RESOURCE_TAG)
        == tag_of(create)
    ]


def _scraper(account: Account, create: PendingCreate) -> list[Found]:
    found = account.all("amp", "list_scrapers", "scrapers")
    return [
        Found(each["scraperId"])
        for each in found
        if (each.get("tags") or {}).get(RESOURCE_TAG) == tag_of(create)
    ]


def _rules(account: Account, create: PendingCreate) -> list[Found]:
    workspace, name = create.inputs["workspaceId"], create.inputs["name"]
    found = account.all(
        "amp",
        "list_rule_groups_namespaces",
        "ruleGroupsNamespaces",
        workspaceId=workspace,
        name=name,
    )
    return [
        Found(each["arn"], tags=each.get("tags") or {}) for each in found if each["name"] == name
    ]


WAYS: dict[str, Way] = {
    "aws:amp/ruleGroupNamespace:RuleGroupNamespace": by_name(
        "aps:ListRuleGroupsNamespaces", _rules
    ),
    "aws:amp/scraper:Scraper": by_tag("aps:ListScrapers", _scraper),
    "aws:cloudwatch/dashboard:Dashboard": repeated(
        "`PutDashboard` overwrites it with the same dashboard"
    ),
    "aws:cloudwatch/eventRule:EventRule": by_name("events:ListRules", _rule),
    "aws:cloudwatch/eventTarget:EventTarget": repeated(
        "`PutTargets` overwrites the target, whose id is fixed"
    ),
    "aws:cloudwatch/logMetricFilter:LogMetricFilter": repeated(
        "`PutMetricFilter` overwrites the filter, whose name is fixed; it is deleted with its log "
        "group"
    ),
    "aws:cloudwatch/metricAlarm:MetricAlarm": by_name("cloudwatch:DescribeAlarms", _alarm),
    "aws:scheduler/schedule:Schedule": by_name("scheduler:ListSchedules", _schedule),
    "aws:sns/topic:Topic": by_name("sns:ListTopics", _topic),
    "aws:sns/topicPolicy:TopicPolicy": repeated(
        "`SetTopicAttributes` overwrites it with the same policy; it is deleted with its topic"
    ),
    "aws:sns/topicSubscription:TopicSubscription": repeated(
        "`Subscribe` of the same address does not add a second subscription; it is deleted with "
        "its topic"
    ),
    "aws:ssm/association:Association": by_tag("ssm:ListAssociations", _association),
}
