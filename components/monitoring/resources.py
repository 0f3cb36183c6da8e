"""The dashboard, the alarms and the topic of a stack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from components.monitoring.dashboard import dashboard_body, dimensions_of
from components.monitoring.plan import AlarmPlan, AlarmsPlan, EventPlan, MonitoringPlan
from components.naming import EVENT_RULE_NAME_LIMIT, fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringArgs:
    """Arguments of `Monitoring`."""

    plan: MonitoringPlan
    file_system_ids: Mapping[str, pulumi.Input[str]]
    """Ids of the file systems that the stack creates, by name."""
    after: Sequence[pulumi.Resource]
    """Resources that create the log groups of the plan's metrics."""


class Monitoring(pulumi.ComponentResource):
    """The dashboard and the alarms of a `MonitoringPlan`.

    Children: `<name>-dashboard` (`aws.cloudwatch.Dashboard`), `<name>-topic` (`aws.sns.Topic`),
    `<name>-topic-policy` (`aws.sns.TopicPolicy`), `<name>-<address>` (`aws.sns.TopicSubscription`),
    `<name>-<alarm>` (`aws.cloudwatch.MetricAlarm`), `<name>-<event>` (`aws.cloudwatch.EventRule`
    and `aws.cloudwatch.EventTarget`) and `<name>-<metric>` (`aws.cloudwatch.LogMetricFilter`).
    """

    topic_arn: pulumi.Input[str] | None
    """None without alarms."""
    dashboard_name: pulumi.Input[str] | None
    """None without a dashboard."""

    def __init__(
        self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("trainyard:monitoring:Monitoring", name, {}, opts)
        self._name, self._args = name, args
        self._file_system_ids = {**args.plan.file_system_ids, **args.file_system_ids}
        self._child = pulumi.ResourceOptions(parent=self)
        alarms = args.plan.alarms
        self.topic_arn = self._make_topic(alarms) if alarms else None
        made = self._make_alarms(alarms) if alarms else []
        self.dashboard_name = self._make_dashboard(made) if args.plan.graphs else None
        self.register_outputs({})

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the values of the stack output `monitoring`."""
        return {"dashboard": self.dashboard_name, "topic_arn": self.topic_arn}

    def _make_topic(self, alarms: AlarmsPlan) -> pulumi.Input[str]:
        if alarms.topic_arn is not None:
            return alarms.topic_arn
        topic = aws.sns.Topic(
            f"{self._name}-topic", tags=dict(self._args.plan.tags), opts=self._child
        )
        aws.sns.TopicPolicy(
            f"{self._name}-topic-policy",
            arn=topic.arn,
            policy=topic.arn.apply(topic_policy),
            opts=self._child,
        )
        for address in alarms.emails:
            aws.sns.TopicSubscription(
                f"{self._name}-{address}",
                topic=topic.arn,
                protocol="email",
                endpoint=address,
                opts=self._child,
            )
        return topic.arn

    def _make_alarms(self, alarms: AlarmsPlan) -> list[pulumi.Output[str]]:
        for counted in alarms.log_metrics:
            aws.cloudwatch.LogMetricFilter(
                f"{self._name}-{counted.metric.name}",
                name=counted.metric.name,
                log_group_name=counted.log_group,
                pattern=counted.pattern,
                metric_transformation=aws.cloudwatch.LogMetricFilterMetricTransformationArgs(
                    namespace=counted.metric.namespace, name=counted.metric.name, value="1"
                ),
                opts=pulumi.ResourceOptions(parent=self, depends_on=[*self._args.after]),
            )
        for event in alarms.events:
            self._make_rule(event)
        return [self._make_alarm(alarm) for alarm in alarms.alarms]

    def _make_alarm(self, plan: AlarmPlan) -> pulumi.Output[str]:
        metric = plan.metric
        return aws.cloudwatch.MetricAlarm(
            f"{self._name}-{plan.name}",
            alarm_description=plan.description,
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions=dimensions_of(metric, self._file_system_ids),
            statistic=metric.statistic,
            comparison_operator=plan.comparison,
            threshold=plan.threshold,
            period=plan.period_seconds,
            evaluation_periods=plan.periods,
            # Nodes send no metrics before they launch, and a reservation none before it starts.
            treat_missing_data="notBreaching",
            alarm_actions=[self.topic_arn] if self.topic_arn else [],
            ok_actions=[self.topic_arn] if self.topic_arn else [],
            tags=dict(self._args.plan.tags),
            opts=self._child,
        ).arn

    def _make_rule(self, plan: EventPlan) -> None:
        rule = aws.cloudwatch.EventRule(
            fitted(f"{self._name}-{plan.name}", EVENT_RULE_NAME_LIMIT),
            description=plan.description,
            event_pattern=json.dumps(plan.pattern, sort_keys=True),
            tags=dict(self._args.plan.tags),
            opts=self._child,
        )
        aws.cloudwatch.EventTarget(
            f"{self._name}-{plan.name}",
            rule=rule.name,
            target_id="topic",
            arn=self.topic_arn or "",
            opts=self._child,
        )

    def _make_dashboard(self, alarm_arns: Sequence[pulumi.Output[str]]) -> pulumi.Output[str]:
        plan = self._args.plan
        body = pulumi.Output.all(arns=list(alarm_arns), file_systems=self._file_system_ids).apply(
            lambda known: _body(plan, known)
        )
        return aws.cloudwatch.Dashboard(
            f"{self._name}-dashboard",
            dashboard_name=self._name,
            dashboard_body=body,
            opts=self._child,
        ).dashboard_name


def _body(plan: MonitoringPlan, known: Mapping[str, Any]) -> str:
    body = dashboard_body(
        plan.graphs,
        region=plan.region,
        alarm_arns=known["arns"],
        file_system_ids=known["file_systems"],
    )
    return json.dumps(body, sort_keys=True)


def topic_policy(topic_arn: str) -> str:
    """Return the access policy of a topic for alarms and event rules of its account.

    Sources:
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
        https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html, whose
            statement for topics has no condition.
    """
    account = topic_arn.split(":")[4]
    statements: list[dict[str, Any]] = [
        {
            "Sid": "Alarms",
            "Effect": "Allow",
            "Principal": {"Service": "cloudwatch.amazonaws.com"},
            "Action": "sns:Publish",
            "Resource": topic_arn,
            "Condition": {"StringEquals": {"aws:SourceAccount": account}},
        },
        {
            "Sid": "Events",
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sns:Publish",
            "Resource": topic_arn,
        },
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)
