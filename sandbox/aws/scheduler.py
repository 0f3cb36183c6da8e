"""EventBridge Scheduler and its targets: SNS topics, and calls of AWS APIs."""

from __future__ import annotations

import copy
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.utils import get_service_model
from moto.iam.models import iam_backends
from moto.scheduler.exceptions import ValidationException
from moto.scheduler.responses import EventBridgeSchedulerResponse
from moto.sns.models import sns_backends
from moto.utilities.utils import get_partition

from trainyard.sandbox.aws.batch.responses import SandboxBatchResponse
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.iam import may
from trainyard.sandbox.aws.state import state_of

_SNS_LOG = logging.getLogger("sandbox.sns")


def publish(sns: Any, topic_arn: str, message: str) -> None:
    """Publish a message; a topic that was deleted receives nothing."""
    topic = sns.topics.get(topic_arn)
    if topic is None:
        _SNS_LOG.warning("%s does not exist; lost: %s", topic_arn, message)
    else:
        topic.publish(message)


def sending_to_topics(send_to_targets: Callable[..., None]) -> Callable[..., None]:
    """Return the delivery of a rule's events, which in moto does not know topics.

    EventBridge sends the event as JSON if the access policy of the topic lets it.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
    """

    def send(rule: Any, event: dict[str, Any], *transform: bool) -> None:
        topics = [each["Arn"] for each in rule.targets if ":sns:" in each["Arn"]]
        if rule.state == "ENABLED" and rule.event_pattern.matches_event(event):
            sns = sns_backends[rule.account_id][rule.region_name]
            for arn in topics:
                if _lets_eventbridge_publish(sns.topics.get(arn)):
                    publish(sns, arn, json.dumps(_as_sent(event)))
                else:
                    _SNS_LOG.warning("%s does not let EventBridge publish", arn)
        others = copy.copy(rule)
        others.targets = [each for each in rule.targets if each["Arn"] not in topics]
        send_to_targets(others, event, *transform)

    return send


def _lets_eventbridge_publish(topic: Any) -> bool:
    statements = json.loads(topic.policy)["Statement"] if topic else []
    return any(
        each["Effect"] == "Allow"
        and "events.amazonaws.com" in json.dumps(each["Principal"])
        and "sns:publish" in json.dumps(each["Action"]).lower()
        for each in statements
    )


def _as_sent(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with its time as text, and without a field of moto."""
    time = datetime.fromtimestamp(event["time"], UTC)
    sent = {key: value for key, value in event.items() if key != "ingestion-time"}
    return sent | {"time": f"{time:%Y-%m-%dT%H:%M:%SZ}"}


# Universal targets of EventBridge Scheduler: calls of AWS APIs with the role of the schedule.
#
# https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html


LOG = logging.getLogger("sandbox.scheduler")

_ARN = re.compile(r"arn:(aws[a-z-]*):scheduler:::aws-sdk:(\w+):(\w+)")
_UPDATE = ("batch", "updateComputeEnvironment")


def is_universal(arn: str) -> bool:
    """Return whether a target is a call of an API."""
    return ":scheduler:::aws-sdk:" in arn


def check_target(target: Mapping[str, Any]) -> None:
    """Reject a call that the sandbox does not make, and an input without required fields.

    Keys of the input are those of the API in PascalCase: AWS answers a `submitJob` with `jobName`
    with the message below.

    Raises:
        NotImplementedError: The call, or an optional field of its input, is not emulated.
        ValidationException: A required field is missing.
    """
    found = _ARN.fullmatch(target["Arn"])
    if found is None or (found[2], found[3]) != _UPDATE:
        raise NotImplementedError(f"schedules for {target['Arn']}")
    given = json.loads(target["Input"])
    shape: Any = get_service_model("batch").operation_model("UpdateComputeEnvironment").input_shape
    required = (name[0].upper() + name[1:] for name in shape.required_members)
    missing = [name for name in required if name not in given]
    if missing:
        raise ValidationException(
            "Invalid RequestJson provided. Reason Request payload is missing the following "
            f"field(s): {', '.join(missing)}."
        )
    unknown = given.keys() - {"ComputeEnvironment", "State"}
    if unknown:
        raise NotImplementedError(f"{', '.join(sorted(unknown))} in {target['Arn']}")


def call_target(target: Mapping[str, Any], region: str) -> None:
    """Make the call; a refusal is only logged: AWS reports it only to a dead-letter queue."""
    given = json.loads(target["Input"])
    environment = given["ComputeEnvironment"]
    if not may(target["RoleArn"], "batch:UpdateComputeEnvironment", environment):
        LOG.error("%s may not update %s", target["RoleArn"], environment)
        return
    batch = SandboxBatchResponse()
    batch.region, batch.current_account = region, ACCOUNT_ID
    batch.partition = get_partition(region)
    batch.params = {name[0].lower() + name[1:]: value for name, value in given.items()}
    try:
        batch.update_compute_environment()
    except ServiceException as error:
        LOG.error("%s could not be updated: %s", environment, error)  # noqa: TRY400 - a refusal


# EventBridge Scheduler: one-time schedules that send a text to a topic, or call an API.
#
# Rate and cron expressions, time zones, flexible windows and other targets are not emulated.
# https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html


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
