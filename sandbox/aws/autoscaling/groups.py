"""Auto Scaling groups whose launches are validated like EC2's.

A launch that EC2 rejects does not fail the call: the group has fewer instances than desired,
reports the reason in its scaling activities, and retries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from moto.autoscaling.models import FakeAutoScalingGroup, InstanceState
from moto.core.exceptions import ServiceException

from trainyard.sandbox.aws.autoscaling.activities import (
    record_failure,
    record_launch,
    record_termination,
)
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest, merge
from trainyard.sandbox.aws.ec2.launches import check_launch, refuse_scheduled_launch, run
from trainyard.sandbox.aws.transitions import TRANSITIONS

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
