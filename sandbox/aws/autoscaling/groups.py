"""Auto Scaling groups: their calls, launches and scaling activities, validated like AWS's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from moto.autoscaling.models import FakeAutoScalingGroup, InstanceState
from moto.core.exceptions import ServiceException
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest, merge
from trainyard.sandbox.aws.ec2.launches import check_launch, refuse_scheduled_launch, run
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.aws.state import state_of
from trainyard.sandbox.aws.transitions import TRANSITIONS

# Scaling activities: the actions of a group and the reasons for failures.
#
# https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_Activity.html


_KEPT = 100
"""Maximum number of activities in memory; a group that cannot launch keeps retrying."""


@dataclass(kw_only=True)
class ScalingActivity:
    """An activity, with the field names that the serializer expects."""

    activity_id: str
    auto_scaling_group_name: str
    auto_scaling_group_arn: str
    description: str
    cause: str
    start_time: datetime
    end_time: datetime
    status_code: str
    status_message: str | None = None
    progress: int = 100
    details: str = "{}"
    """The place of the instance, as JSON."""


class ScalingActivities(list[ScalingActivity]):
    """The activities of one account and region, newest first, as the API lists them."""


def activities_of(autoscaling: Any) -> ScalingActivities:
    """Return the activities of an Auto Scaling backend."""
    return state_of(autoscaling, ScalingActivities)


def record_launch(group: Any, instance: Any) -> None:
    """Record that a group launched an instance."""
    description = f"Launching a new EC2 instance: {instance.id}"
    _record(group, description, "Successful", None, instance.subnet_id)


def record_termination(group: Any, instance: Any) -> None:
    """Record that a group terminated an instance."""
    _record(
        group, f"Terminating EC2 instance: {instance.id}", "Successful", None, instance.subnet_id
    )


def record_failure(group: Any, error: Exception, subnet_id: str | None) -> None:
    """Record a failed launch in a subnet; a repeated failure only changes the end time."""
    code, message = code_and_message(error)
    status = (
        f"Could not launch On-Demand Instances. {code} - {message.rstrip('.')}. "
        "Launching EC2 instance failed."
    )
    latest = next(
        (each for each in activities_of(group.autoscaling_backend) if _is_of(each, group)), None
    )
    if latest is not None and latest.status_message == status:
        latest.end_time = CLOCK.now()
        return
    description = f"Launching a new EC2 instance.  Status Reason: {status}"
    _record(group, description, "Failed", status, subnet_id)


def _is_of(activity: ScalingActivity, group: Any) -> bool:
    return activity.auto_scaling_group_arn == group.arn


def _details(group: Any, subnet_id: str | None) -> str:
    """Return the details of an activity, as real accounts answer them.

    https://docs.aws.amazon.com/autoscaling/ec2/userguide/detach-instance-asg.html
    """
    if subnet_id is None:
        return "{}"
    zone = group.ec2_backend.get_subnet(subnet_id).availability_zone
    place = {"Subnet ID": subnet_id, "Availability Zone": zone}
    return json.dumps(place, separators=(",", ":"))


def _record(
    group: Any,
    description: str,
    status_code: str,
    status_message: str | None,
    subnet_id: str | None,
) -> None:
    now = CLOCK.now()
    activities = activities_of(group.autoscaling_backend)
    activities.insert(
        0,
        ScalingActivity(
            activity_id=str(mock_random.uuid4()),
            auto_scaling_group_name=group.name,
            auto_scaling_group_arn=group.arn,
            description=description,
            cause=(
                f"At {now:%Y-%m-%dT%H:%M:%SZ} the group had {len(group.instance_states)} instances "
                f"and a desired capacity of {group.desired_capacity}."
            ),
            start_time=now,
            end_time=now,
            status_code=status_code,
            status_message=status_message,
            details=_details(group, subnet_id),
        ),
    )
    del activities[_KEPT:]


# Auto Scaling groups whose launches are validated like EC2's.
#
# A launch that EC2 rejects does not fail the call: the group has fewer instances than desired,
# reports the reason in its scaling activities, and retries.


RETRY_INTERVAL = timedelta(seconds=10)
"""Time between two launch attempts of a group; AWS increases it with each attempt."""

GROUP_TYPE = "aws:autoscaling/group:Group"
GROUP_TAG = "aws:autoscaling:groupName"

_NO_RESERVATION_NAMED = {"CapacityReservationPreference": "default"}
"""Value in DescribeAutoScalingGroups for a group without a specification.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CapacityReservationSpecification.html
"""


class GroupInstance(InstanceState):
    """An instance of a group, with its launch template version."""

    @property
    def launch_template(self) -> dict[str, Any] | None:
        """Id, name and version of its launch template."""
        described = super().launch_template
        version = self.instance.ec2_backend.tags.get(self.instance.id, {}).get(
            "aws:ec2launchtemplate:version"
        )
        return (
            described if described is None or version is None else {**described, "Version": version}
        )

    def come_into_service(self) -> None:
        """Set the state to InService, unless it was changed meanwhile."""
        if self.lifecycle_state == "Pending":
            self.lifecycle_state = "InService"


class Group(FakeAutoScalingGroup):
    """A group; replaces moto's class."""

    traffic_sources: Sequence[Mapping[str, str]] = ()
    next_attempt: datetime | None = None
    """When a failed launch is retried; None if none failed."""
    capacity_reservation_specification: Mapping[str, Any] = _NO_RESERVATION_NAMED
    """Value in CreateAutoScalingGroup or UpdateAutoScalingGroup."""

    def active_instances(self) -> list[InstanceState]:
        """Return the instances that count towards the desired capacity."""
        return [x for x in self.instance_states if x.lifecycle_state in ("InService", "Pending")]

    def set_desired_capacity(self, new_capacity: int | None) -> None:
        """Launch missing instances, or terminate surplus ones."""
        self.desired_capacity = self.min_size if new_capacity is None else new_capacity
        self.reconcile()

    def reconcile(self) -> None:
        """Adjust the number of instances to the desired capacity, as far as EC2 allows."""
        suspended = set(self._suspended_processes)
        missing = (self.desired_capacity or 0) - len(self.active_instances())
        self.next_attempt = None
        if missing > 0 and "Launch" not in suspended:
            self._launch(missing)
        if missing < 0 and "Terminate" not in suspended:
            self._terminate(-missing)

    def replace(self, instance_id: str) -> None:
        """Terminate an instance, also a protected one, then launch another one."""
        for state in [each for each in self.instance_states if each.instance.id == instance_id]:
            self._end(state)
        self.reconcile()

    def replace_autoscaling_group_instances(
        self, count_needed: int, propagated_tags: dict[str, str]
    ) -> None:
        """Replace instances that were terminated outside the group (moto calls this)."""
        self.reconcile()

    def launch_request(self, subnet_id: str | None) -> LaunchRequest:
        """Return the launch request of an instance in a subnet."""
        tags = {**self.get_propagated_tags(), GROUP_TAG: self.name}
        template = self.ec2_launch_template
        specification = {
            "LaunchTemplateId": template.id if template else None,
            "Version": str(getattr(self, "launch_template_version", "$Default")),
        }
        overrides = ((self.mixed_instances_policy or {}).get("LaunchTemplate") or {}).get(
            "Overrides"
        ) or [{}]
        return merge(
            self.ec2_backend,
            {
                "LaunchTemplate": specification,
                "InstanceType": overrides[0].get("InstanceType"),
                "TagSpecifications": [
                    {
                        "ResourceType": "instance",
                        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
                    }
                ],
            },
            subnet_id=subnet_id,
        )

    @property
    def subnet_ids(self) -> list[str | None]:
        """Its subnets, those with the fewest instances first; a single None for the default VPC."""
        ids = [each for each in (self.vpc_zone_identifier or "").split(",") if each]
        counts = dict.fromkeys(ids, 0)
        for state in self.active_instances():
            if state.instance.subnet_id in counts:
                counts[state.instance.subnet_id] += 1
        return [*sorted(ids, key=counts.__getitem__)] or [None]

    def _launch(self, count: int) -> None:
        for _ in range(count):
            try:
                instance = self._launch_one()
            except ServiceException as error:
                record_failure(self, error, self.subnet_ids[0])
                self.next_attempt = CLOCK.now() + RETRY_INTERVAL
                return
            instance.autoscaling_group = self
            protected = self.new_instances_protected_from_scale_in
            state = GroupInstance(instance, "Pending", protected_from_scale_in=protected)
            self.instance_states.append(state)
            TRANSITIONS.begin(GROUP_TYPE, "create", state.come_into_service)
            record_launch(self, instance)

    def _launch_one(self) -> Any:
        """Launch an instance in the first subnet with capacity.

        Raises:
            ServiceException: No subnet has capacity; the reason is that of the first subnet.
        """
        refusal: ServiceException | None = None
        for subnet_id in self.subnet_ids:
            try:
                refuse_scheduled_launch()
                checked = check_launch(self.ec2_backend, self.launch_request(subnet_id))
                return run(self.ec2_backend, checked).instances[0]
            except ServiceException as error:
                refusal = refusal or error
        raise refusal or ServiceException("ValidationError", "The group has no subnet.")

    def _terminate(self, count: int) -> None:
        removable = [state for state in self.instance_states if not state.protected_from_scale_in]
        for state in removable[:count]:
            self._end(state)

    def _end(self, state: InstanceState) -> None:
        self.ec2_backend.terminate_instances([state.instance.id])
        self.instance_states.remove(state)
        record_termination(self, state.instance)


def retry_launches(autoscaling: Any) -> None:
    """Retry the launches that are due in all groups."""
    now = CLOCK.now()
    for group in list(autoscaling.autoscaling_groups.values()):
        if group.next_attempt is not None and now >= group.next_attempt:
            group.reconcile()
