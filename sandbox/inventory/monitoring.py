"""Dashboards, alarms, rules, schedules, topics, metric filters, associations, collectors."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item


def items(clients: Clients) -> Iterator[Item]:
    """Yield what watches the account and where it sends messages."""
    yield from _metrics(clients)
    yield from _messages(clients)


def _metrics(clients: Clients) -> Iterator[Item]:
    for board in clients.every("cloudwatch", "list_dashboards", "DashboardEntries"):
        yield Item("cloudwatch:dashboard", board["DashboardName"])
    for alarm in clients.every("cloudwatch", "describe_alarms", "MetricAlarms"):
        details = {
            "threshold": alarm["Threshold"],
            "periods": alarm["EvaluationPeriods"],
            "actions": alarm["AlarmActions"],
        }
        yield Item("cloudwatch:alarm", alarm["AlarmName"], details)
    for each in clients.every("logs", "describe_metric_filters", "metricFilters"):
        name = f"{each['logGroupName']}/{each['filterName']}"
        yield Item("logs:metric-filter", name, {"pattern": each["filterPattern"]})
    for each in clients.every("ssm", "list_associations", "Associations"):
        yield Item("ssm:association", each["AssociationName"], {"targets": each["Targets"]})
    for scraper in clients.every("amp", "list_scrapers", "scrapers"):
        details = {"source": scraper["source"], "destination": scraper["destination"]}
        yield Item("aps:scraper", scraper["scraperId"], details)
    for workspace in clients.every("amp", "list_workspaces", "workspaces"):
        where = {"workspaceId": workspace["workspaceId"]}
        for rules in clients.every(
            "amp", "list_rule_groups_namespaces", "ruleGroupsNamespaces", **where
        ):
            yield Item("aps:rules", rules["name"], where)


def _messages(clients: Clients) -> Iterator[Item]:
    for rule in clients.every("events", "list_rules", "Rules"):
        yield Item("events:rule", rule["Name"], {"pattern": rule.get("EventPattern")})
    for schedule in clients.every("scheduler", "list_schedules", "Schedules"):
        name = {"GroupName": schedule["GroupName"], "Name": schedule["Name"]}
        described = clients.client("scheduler").get_schedule(**name)
        details = {"at": described["ScheduleExpression"], "target": described["Target"]["Arn"]}
        yield Item("scheduler:schedule", "/".join(name.values()), details)
    for topic in clients.every("sns", "list_topics", "Topics"):
        yield Item("sns:topic", topic["TopicArn"])
    for each in clients.every("sns", "list_subscriptions", "Subscriptions"):
        details = {"topic": each["TopicArn"], "protocol": each["Protocol"]}
        yield Item("sns:subscription", f"{each['TopicArn']}/{each['Endpoint']}", details)
