"""Notes on what the dashboard and the alarms of a stack do not cover."""

from __future__ import annotations

from components.config.reservations import CapacityBlock, OdcrGroup
from components.config.review import Review
from components.config.stack import StackConfig


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
    used = {pool.purchase_option for pool in config.pools()}
    blocks = [
        each
        for name, each in config.reservations.items()
        if name in used and isinstance(each, CapacityBlock)
    ]
    if alarms.block_warning_hours and not blocks:
        review.note(f"{key}.block_warning_hours: no node launches into a Capacity Block")
    for name, reservation in config.reservations.items():
        if name in used and isinstance(reservation, OdcrGroup) and reservation.group_arn:
            review.note(
                f"{key}: reservation {name} is an existing group, whose members are unknown: it "
                "has no alarm for unused instances"
            )
