"""Notes on what the dashboard and the alarms of a stack do not cover."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock, OdcrGroup
from trainyard.components.config.stack import StackConfig
from trainyard.components.monitoring.node_agent import measured_on_pools


def review_monitoring(config: StackConfig, review: Review) -> None:
    """Record what users must do for alarms, and reservations without an alarm."""
    alarms = config.monitoring.alarms if config.monitoring else None
    if alarms is None:
        return
    key = "monitoring.alarms"
    if alarms.emails:
        review.note(
            f"{key}: AWS sends each address a link; no message arrives until it is confirmed"
        )
    if not alarms.emails and alarms.topic_arn is None:
        review.note(
            f"{key}: the topic has no subscription; subscribe with "
            "`aws sns subscribe --topic-arn ARN --protocol PROTOCOL --notification-endpoint WHERE`"
        )
    used = config.used_reservations()
    has_block = any(isinstance(each, CapacityBlock) for each in used.values())
    if alarms.block_warning_hours and not has_block:
        review.note(f"{key}.block_warning_hours: no node launches into a Capacity Block")
    for name, reservation in used.items():
        if isinstance(reservation, OdcrGroup) and reservation.group_arn:
            review.note(
                f"{key}: reservation {name} is an existing group, whose members are unknown: it "
                "has no alarm for unused instances"
            )


def note_node_metrics(config: StackConfig, pools: Sequence[NodePoolPlan], review: Review) -> None:
    """Note what the dashboard and the alarms lack of nodes with GPUs or EFA, and why."""
    if config.monitoring is None or not measured_on_pools(pools):
        return
    if config.node_metrics == "prometheus":
        note_workspace(review)
    elif config.node_metrics is None:
        review.note(
            "monitoring: there are no graphs and alarms of what the CloudWatch agent measures on "
            "nodes (GPUs, EFA, memory); let it send metrics: "
            f"{review.set_command('monitoring.node_metrics', 'cloudwatch')}"
        )


def note_workspace(review: Review) -> None:
    """Note that CloudWatch has none of the metrics that go to Prometheus, nor their alarms."""
    review.note(
        "monitoring.node_metrics: metrics of nodes go to the workspace; the dashboard and `status` "
        "have none of them, and their alarms are alerts of the workspace, which needs an alert "
        "manager to send them"
    )
