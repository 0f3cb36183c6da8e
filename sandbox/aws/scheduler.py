"""EventBridge Scheduler: one-time schedules that send a text to a topic, or call an API.

Rate and cron expressions, time zones, flexible windows and other targets are not emulated.
https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from moto.iam.models import iam_backends
from moto.scheduler.exceptions import ValidationException
from moto.scheduler.responses import EventBridgeSchedulerResponse

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.aws.topics import publish
from trainyard.sandbox.aws.universal_targets import call_target, check_target, is_universal

LOG = logging.getLogger("sandbox.scheduler")

_AT = re.compile(r"at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)")


@dataclass
class _Pending:
    """When schedules that have not run will run, by their ARNs."""

    by_arn: dict[str, datetime] = field(default_factory=dict)


class SandboxSchedulerResponse(EventBridgeSchedulerResponse):
    """Requests of Scheduler, with the checks of AWS that moto does not make."""

    def create_schedule(self) -> str:
        """CreateSchedule."""
        return self._set(super().create_schedule)

    def update_schedule(self) -> str:
        """UpdateSchedule: also a schedule that has run runs again at its new time."""
        return self._set(super().update_schedule)

    def _set(self, handle: Any) -> str:
        at = _time(self._get_param("ScheduleExpression"))
        if (self._get_param("ScheduleExpressionTimezone") or "UTC") != "UTC":
            raise NotImplementedError("schedules in other time zones than UTC")
        if self._get_param("FlexibleTimeWindow")["Mode"] != "OFF":
            raise NotImplementedError("flexible time windows")
        target = self._get_param("Target")
        if is_universal(target["Arn"]):
            check_target(target)
        elif ":sns:" not in target["Arn"]:
            raise NotImplementedError(f"schedules for {target['Arn']}")
        _check_role(target["RoleArn"])
        answer = handle()
        arn = json.loads(answer)["ScheduleArn"]
        schedule = _schedule(self.scheduler_backend, arn)
        schedule.state = schedule.state or "ENABLED"
        # A one-time schedule whose time is over does not run.
        pending = state_of(self.scheduler_backend, _Pending).by_arn
        pending.pop(arn, None)
        if at > CLOCK.now():
            pending[arn] = at
        return answer


def run_due_schedules(scheduler: Any, sns: Any) -> None:
    """Run the schedules that are due, once, in the order of their times."""
    pending = state_of(scheduler, _Pending).by_arn
    for arn, at in sorted(pending.items(), key=lambda each: each[1]):
        if at > CLOCK.now():
            continue
        del pending[arn]
        schedule = _schedule(scheduler, arn)
        if schedule is not None and schedule.state == "ENABLED":
            LOG.info("%s runs", schedule.name)
            _run(schedule.target, sns)


def _run(target: Any, sns: Any) -> None:
    if is_universal(target["Arn"]):
        call_target(target, sns.region_name)
    else:
        publish(sns, target["Arn"], target["Input"])


def _schedule(scheduler: Any, arn: str) -> Any:
    """Return a schedule; None if it was deleted."""
    _, group, name = arn.rpartition(":")[2].split("/")
    return scheduler.schedule_groups[group].schedules.get(name)


def _time(expression: str) -> datetime:
    if expression.startswith(("rate(", "cron(")):
        raise NotImplementedError(f"the schedule expression {expression}")
    found = _AT.fullmatch(expression)
    if found is None:
        raise ValidationException(f"Invalid Schedule Expression {expression}.")
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC)


def _check_role(role_arn: str) -> None:
    roles = iam_backends[ACCOUNT_ID]["aws"].roles.values()
    trusts = (role.assume_role_policy_document for role in roles if role.arn == role_arn)
    if "scheduler.amazonaws.com" not in next(trusts, ""):
        raise ValidationException(
            "The execution role you provide must allow AWS EventBridge Scheduler to assume the "
            "role."
        )
