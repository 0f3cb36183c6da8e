"""Scheduled actions of Auto Scaling groups.

One-time actions run when they are due and are then deleted, as in AWS. Recurring actions are stored
and described but never run, because a sandbox does not live that long.
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-scheduled-scaling.html
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from dateutil.parser import isoparse

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.state import state_of

LOG = logging.getLogger("sandbox.autoscaling")


@dataclass(kw_only=True)
class ScheduledAction:
    """An action, with the field names that the serializer expects."""

    auto_scaling_group_name: str
    scheduled_action_name: str
    scheduled_action_arn: str
    start_time: datetime | None
    end_time: datetime | None
    recurrence: str | None
    time_zone: str | None
    min_size: int | None
    max_size: int | None
    desired_capacity: int | None


@dataclass
class Schedules:
    """The scheduled actions of an account and region, by group and name."""

    by_name: dict[tuple[str, str], ScheduledAction] = field(default_factory=dict)

    def forget(self, group_name: str) -> None:
        """Drop the actions of a group."""
        for key in [key for key in self.by_name if key[0] == group_name]:
            del self.by_name[key]


def schedules_of(autoscaling: Any) -> Schedules:
    """Return the scheduled actions of an Auto Scaling backend."""
    return state_of(autoscaling, Schedules)


def moment(value: str | datetime | None) -> datetime | None:
    """Return a request's time as an aware datetime; without a time zone it is UTC, as in AWS."""
    if value is None:
        return None
    time = isoparse(value) if isinstance(value, str) else value
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def run_due_actions(autoscaling: Any) -> None:
    """Run all one-time actions that are due."""
    now = CLOCK.now()
    schedules = schedules_of(autoscaling)
    due = [
        action
        for action in schedules.by_name.values()
        if action.recurrence is None and action.start_time and action.start_time <= now
    ]
    for action in sorted(due, key=lambda each: each.start_time or now):
        del schedules.by_name[action.auto_scaling_group_name, action.scheduled_action_name]
        group = autoscaling.autoscaling_groups.get(action.auto_scaling_group_name)
        if group is not None:
            LOG.info("%s: %s", group.name, action.scheduled_action_name)
            _apply(group, action)


def _apply(group: Any, action: ScheduledAction) -> None:
    if action.min_size is not None:
        group.min_size = action.min_size
    if action.max_size is not None:
        group.max_size = action.max_size
    desired = group.desired_capacity
    if action.desired_capacity is not None:
        desired = action.desired_capacity
    group.set_desired_capacity(min(max(desired, group.min_size), group.max_size))
