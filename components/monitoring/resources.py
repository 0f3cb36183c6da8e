"""The dashboard, the alarms and the messages of a stack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pulumi
import pulumi_aws as aws

from trainyard.components.identity.one_time_calls import (
    OneTimeCall,
    OneTimeCallsArgs,
    schedule_calls,
)
from trainyard.components.monitoring.plan import (
    AgentPlan,
    AlarmPlan,
    AlarmsPlan,
    EventPlan,
    Graph,
    LogMetricPlan,
    MessagePlan,
    Metric,
    MonitoringPlan,
    Subject,
)
from trainyard.components.naming import EVENT_RULE_NAME_LIMIT, dns_suffix, fitted, partition


def topic_of(
    name: str, alarms: AlarmsPlan, tags: Mapping[str, str], options: pulumi.ResourceOptions
) -> pulumi.Input[str]:
    """Return the ARN of the topic, and register a new one unless the plan has an existing one.

    Resources: `<name>-topic` (`aws.sns.Topic`), `<name>-topic-policy` (`aws.sns.TopicPolicy`) and
    `<name>-<address>` (`aws.sns.TopicSubscription`).
    """
    if alarms.topic_arn is not None:
        return alarms.topic_arn
    topic = aws.sns.Topic(f"{name}-topic", tags=dict(tags), opts=options)
    workspace = alarms.rules.workspace_arn if alarms.rules else None
    aws.sns.TopicPolicy(
        f"{name}-topic-policy",
        arn=topic.arn,
        policy=topic.arn.apply(partial(topic_policy, workspace_arn=workspace)),
        opts=options,
    )
    for address in alarms.emails:
        aws.sns.TopicSubscription(
            f"{name}-{address}",
            topic=topic.arn,
            protocol="email",
            endpoint=address,
            opts=options,
        )
    return topic.arn


def topic_policy(topic_arn: str, workspace_arn: str | None = None) -> str:
    """Return the access policy of a topic for alarms and event rules of its account.

    Args:
        topic_arn: The topic.
        workspace_arn: Workspace of Prometheus whose alert manager may send to it.

    Sources:
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
        https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html, whose
            statement for topics has no condition.
        https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-AMPpermission.html
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
    if workspace_arn:
        statements.append(
            {
                "Sid": "Alerts",
                "Effect": "Allow",
                "Principal": {"Service": "aps.amazonaws.com"},
                "Action": ["sns:Publish", "sns:GetTopicAttributes"],
                "Resource": topic_arn,
                "Condition": {
                    "ArnEquals": {"aws:SourceArn": workspace_arn},
                    "StringEquals": {"aws:SourceAccount": account},
                },
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)


# One-time schedules that send messages to the topic of a stack.
#
# Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-templated.html


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesArgs:
    """Arguments of `schedule_messages`."""

    messages: Sequence[MessagePlan]
    topic_arn: pulumi.Input[str]
    is_own_topic: bool
    """Whether the stack creates the topic, which has no key."""
    region: str
    tags: Mapping[str, str]


def schedule_messages(name: str, args: MessagesArgs, options: pulumi.ResourceOptions) -> None:
    """Register the schedule of each message, named after it, and the role that sends them.

    The access policy of the topic does not have to name the role, because both are in the same
    account.
    """
    topic = pulumi.Output.from_input(args.topic_arn)
    calls = OneTimeCallsArgs(
        calls=[
            OneTimeCall(
                name=message.name, at=message.at, target_arn=args.topic_arn, input=message.text
            )
            for message in args.messages
        ],
        subject_arn=args.topic_arn,
        role_description="Sends warnings of the end of Capacity Blocks",
        policy=topic.apply(
            lambda arn: publish_policy(arn, args.region, is_own_topic=args.is_own_topic)
        ),
        tags=args.tags,
    )
    schedule_calls(name, calls, options)


def publish_policy(topic_arn: str, region: str, *, is_own_topic: bool) -> str:
    """Return the policy of the role: publish to the topic, also if a key encrypts it.

    The stack does not encrypt its own topic. The key of an existing one is not in the stack file,
    and can belong to another account, so the statement is bound to what the key encrypts: SNS names
    the topic in the encryption context of each call.

    Sources:
        https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html, permissions of
        publishers to an encrypted topic
        https://docs.aws.amazon.com/gamelift/latest/flexmatchguide/queue-notification-sns-sse.html:
        the encryption context
    """
    statements: list[dict[str, Any]] = [
        {"Effect": "Allow", "Action": "sns:Publish", "Resource": topic_arn}
    ]
    if not is_own_topic:
        conditions = {
            "kms:ViaService": f"sns.{region}.{dns_suffix(region)}",
            "kms:EncryptionContext:aws:sns:topicArn": topic_arn,
        }
        statements.append(
            {
                "Effect": "Allow",
                "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
                "Resource": f"arn:{partition(region)}:kms:{region}:*:key/*",
                "Condition": {"StringEquals": conditions},
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)


# The body of a CloudWatch dashboard.
#
# Source:
#     https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html


_COLUMNS = 3
_WIDTH = 24 // _COLUMNS
"""A dashboard is 24 units wide."""
_HEIGHT = 6
_ALARM_HEIGHT = 3


def dashboard_body(
    graphs: Sequence[Graph],
    *,
    region: str,
    alarm_arns: Sequence[str],
    ids: Mapping[Subject, str],
) -> dict[str, Any]:
    """Return a dashboard with the state of the alarms first and three graphs in a row.

    Args:
        graphs: The graphs, in order.
        region: Region of the metrics.
        alarm_arns: Alarms of the stack.
        ids: Ids of what the stack creates.
    """
    top = _ALARM_HEIGHT if alarm_arns else 0
    widgets = [_alarm_widget(alarm_arns)] if alarm_arns else []
    for index, graph in enumerate(graphs):
        row, column = divmod(index, _COLUMNS)
        widgets.append(
            {
                "type": "metric",
                "x": column * _WIDTH,
                "y": top + row * _HEIGHT,
                "width": _WIDTH,
                "height": _HEIGHT,
                "properties": _graph(graph, region, ids),
            }
        )
    return {"widgets": widgets}


def dimensions_of(metric: Metric, ids: Mapping[Subject, Any]) -> dict[str, Any]:
    """Return the dimensions of a metric, with the ids of what it measures."""
    return {
        name: ids[value] if isinstance(value, Subject) else value
        for name, value in metric.dimensions.items()
    }


def _alarm_widget(alarm_arns: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "alarm",
        "x": 0,
        "y": 0,
        "width": 24,
        "height": _ALARM_HEIGHT,
        "properties": {"title": "Alarms", "alarms": list(alarm_arns)},
    }


def _graph(graph: Graph, region: str, ids: Mapping[Subject, str]) -> dict[str, Any]:
    lines = (
        line
        for number, metric in enumerate(graph.metrics, 1)
        for line in _lines(metric, f"m{number}", ids)
    )
    return {
        "title": graph.title,
        "region": region,
        "view": "timeSeries",
        "metrics": list(lines),
        "yAxis": {"left": {"min": 0, "label": graph.unit, "showUnits": False}},
    }


def _lines(metric: Metric, id_: str, ids: Mapping[Subject, str]) -> Iterator[list[Any]]:
    flat = [text for pair in dimensions_of(metric, ids).items() for text in pair]
    options: dict[str, Any] = {"stat": metric.statistic, "period": metric.period_seconds}
    if metric.per_second:
        yield [{"expression": f"{id_}/PERIOD({id_})", "label": metric.label}]
        options |= {"id": id_, "visible": False}
    else:
        options["label"] = metric.label
    yield [metric.namespace, metric.name, *flat, options]


_SHELL_DOCUMENT = "AWS-RunShellScript"
"""Document of Systems Manager that AWS owns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitoringArgs:
    """Arguments of `Monitoring`."""

    plan: MonitoringPlan
    ids: Mapping[Subject, pulumi.Input[str]]
    """Ids of what the stack creates and its metrics measure."""
    after: Sequence[pulumi.Resource]
    """Resources that create the log groups of the plan's metrics."""


class Monitoring(pulumi.ComponentResource):
    """The dashboard and the alarms of a `MonitoringPlan`.

    Children: `<name>-dashboard` (`aws.cloudwatch.Dashboard`), `<name>-<alarm>`
    (`aws.cloudwatch.MetricAlarm`), `<name>-<event>` (`aws.cloudwatch.EventRule` and
    `aws.cloudwatch.EventTarget`), `<name>-<metric>` (`aws.cloudwatch.LogMetricFilter`),
    `<name>-<agent>` (`aws.ssm.Association`), `<name>-rules` (`aws.amp.RuleGroupNamespace`), and
    those of `topic_of` and `schedule_messages`.
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
        self._child = pulumi.ResourceOptions(parent=self)
        alarms = args.plan.alarms
        self.topic_arn = topic_of(name, alarms, args.plan.tags, self._child) if alarms else None
        for counted in args.plan.log_metrics:
            self._count(counted)
        for event in alarms.events if alarms else ():
            self._make_rule(event)
        if alarms and alarms.messages and self.topic_arn is not None:
            messages = MessagesArgs(
                messages=alarms.messages,
                topic_arn=self.topic_arn,
                is_own_topic=alarms.topic_arn is None,
                region=args.plan.region,
                tags=args.plan.tags,
            )
            schedule_messages(name, messages, self._child)
        for agent in args.plan.agents:
            self._configure(agent)
        if alarms and alarms.rules:
            aws.amp.RuleGroupNamespace(
                f"{name}-rules",
                workspace_id=alarms.rules.workspace_id,
                data=alarms.rules.file,
                tags=dict(args.plan.tags),
                opts=self._child,
            )
        self._alarms = (
            {plan.name: self._make_alarm(plan) for plan in alarms.alarms} if alarms else {}
        )
        self.dashboard_name = self._make_dashboard() if args.plan.dashboard else None
        self.register_outputs({})

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the values of the stack output `monitoring`."""
        return {
            "dashboard": self.dashboard_name,
            "topic_arn": self.topic_arn,
            "alarms": {name: made.name for name, made in self._alarms.items()},
            "figures": [self._figure(graph) for graph in self._args.plan.graphs],
        }

    def _figure(self, graph: Graph) -> dict[str, pulumi.Input[object]]:
        """Return a graph as `status` reads it."""
        lines: list[object] = [
            {
                "namespace": metric.namespace,
                "name": metric.name,
                "dimensions": dimensions_of(metric, self._args.ids),
                "statistic": metric.statistic,
                "period_seconds": metric.period_seconds,
                "per_second": metric.per_second,
                "label": metric.label,
            }
            for metric in graph.metrics
        ]
        return {"title": graph.title, "unit": graph.unit, "metrics": lines}

    def _count(self, counted: LogMetricPlan) -> None:
        group = counted.log_group
        aws.cloudwatch.LogMetricFilter(
            f"{self._name}-{counted.metric.name}",
            name=counted.metric.name,
            log_group_name=self._args.ids[group] if isinstance(group, Subject) else group,
            pattern=counted.pattern,
            metric_transformation=aws.cloudwatch.LogMetricFilterMetricTransformationArgs(
                namespace=counted.metric.namespace, name=counted.metric.name, value="1"
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*self._args.after]),
        )

    def _configure(self, agent: AgentPlan) -> None:
        """Run the script on all nodes with the tag, at once and when one joins.

        Sources:
            https://docs.aws.amazon.com/systems-manager/latest/userguide/systems-manager-state-manager-targets-and-rate-controls.html
            https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_UpdateAssociation.html:
                an update runs it again.
        """
        aws.ssm.Association(
            f"{self._name}-{agent.name}",
            name=_SHELL_DOCUMENT,
            association_name=f"{self._name}-{agent.name}",
            targets=[
                aws.ssm.AssociationTargetArgs(key=f"tag:{agent.tag_key}", values=[agent.tag_value])
            ],
            parameters={"commands": agent.script},
            tags=dict(self._args.plan.tags),
            opts=self._child,
        )

    def _make_alarm(self, plan: AlarmPlan) -> aws.cloudwatch.MetricAlarm:
        return aws.cloudwatch.MetricAlarm(
            f"{self._name}-{plan.name}",
            alarm_description=plan.description,
            **self._measured(plan),
            comparison_operator=plan.comparison,
            threshold=plan.threshold,
            evaluation_periods=plan.periods,
            treat_missing_data=plan.missing,
            alarm_actions=[self.topic_arn] if self.topic_arn else [],
            ok_actions=[self.topic_arn] if self.topic_arn else [],
            tags=dict(self._args.plan.tags),
            opts=self._child,
        )

    def _measured(self, plan: AlarmPlan) -> dict[str, Any]:
        metric = plan.metric
        if plan.less is None:
            return {
                "namespace": metric.namespace,
                "metric_name": metric.name,
                "dimensions": dimensions_of(metric, self._args.ids),
                "statistic": metric.statistic,
                "period": metric.period_seconds,
            }
        difference = aws.cloudwatch.MetricAlarmMetricQueryArgs(
            id="difference",
            expression="metric - less",
            label=f"{metric.label} - {plan.less.label}",
            return_data=True,
        )
        return {
            "metric_queries": [
                difference,
                self._query("metric", metric),
                self._query("less", plan.less),
            ]
        }

    def _query(self, id_: str, metric: Metric) -> aws.cloudwatch.MetricAlarmMetricQueryArgs:
        return aws.cloudwatch.MetricAlarmMetricQueryArgs(
            id=id_,
            metric=aws.cloudwatch.MetricAlarmMetricQueryMetricArgs(
                namespace=metric.namespace,
                metric_name=metric.name,
                dimensions=dimensions_of(metric, self._args.ids),
                stat=metric.statistic,
                period=metric.period_seconds,
            ),
        )

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

    def _make_dashboard(self) -> pulumi.Output[str]:
        plan, subjects = self._args.plan, list(self._args.ids)
        known = pulumi.Output.all(
            arns=[made.arn for made in self._alarms.values()], ids=list(self._args.ids.values())
        )
        body = known.apply(
            lambda made: dashboard_body(
                plan.graphs,
                region=plan.region,
                alarm_arns=made["arns"],
                ids=dict(zip(subjects, made["ids"], strict=True)),
            )
        )
        return aws.cloudwatch.Dashboard(
            f"{self._name}-dashboard",
            dashboard_name=self._name,
            dashboard_body=body.apply(lambda made: json.dumps(made, sort_keys=True)),
            opts=self._child,
        ).dashboard_name
