"""The dashboard and the alarms of a stack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from trainyard.components.monitoring.dashboard import dashboard_body, dimensions_of
from trainyard.components.monitoring.messages import MessagesArgs, schedule_messages
from trainyard.components.monitoring.plan import (
    AgentPlan,
    AlarmPlan,
    EventPlan,
    Graph,
    LogMetricPlan,
    Metric,
    MonitoringPlan,
    Subject,
)
from trainyard.components.monitoring.topic import topic_of
from trainyard.components.naming import EVENT_RULE_NAME_LIMIT, fitted

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
