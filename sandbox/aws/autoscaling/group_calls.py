"""CreateAutoScalingGroup and the other calls on groups, with Auto Scaling's validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from moto.autoscaling.exceptions import AutoscalingClientError
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult

from trainyard.sandbox.aws.autoscaling.activities import activities_of
from trainyard.sandbox.aws.autoscaling.groups import GROUP_TYPE
from trainyard.sandbox.aws.autoscaling.schedules import schedules_of
from trainyard.sandbox.aws.ec2.launch_request import merge
from trainyard.sandbox.aws.ec2.launches import check_request
from trainyard.sandbox.aws.errors import code_and_message
from trainyard.sandbox.aws.transitions import TRANSITIONS

_KEPT = {
    "DefaultCooldown": "default_cooldown",
    "PlacementGroup": "placement_group",
    "TerminationPolicies": "termination_policies",
    "DefaultInstanceWarmup": "default_instance_warmup",
    "MaxInstanceLifetime": "max_instance_lifetime",
    "InstanceMaintenancePolicy": "instance_maintenance_policy",
    "DesiredCapacityType": "desired_capacity_type",
    "CapacityRebalance": "capacity_rebalance",
    "AvailabilityZoneDistribution": "availability_zone_distribution",
    "CapacityReservationSpecification": "capacity_reservation_specification",
}
"""Parameters that moto drops on create or update, with the attribute that describes them."""


def refuse(message: str, code: str = "ValidationError") -> NoReturn:
    """Respond with an Auto Scaling error.

    Raises:
        AutoscalingClientError: always.
    """
    raise AutoscalingClientError(code, message)


class GroupCalls(AutoScalingResponse):
    """Calls on groups; mixed into the Auto Scaling response class."""

    def create_auto_scaling_group(self) -> ActionResult:
        """CreateAutoScalingGroup; rejects a template that EC2 would reject."""
        parameters: Mapping[str, Any] = self.params
        name = parameters["AutoScalingGroupName"]
        if parameters.get("LaunchConfigurationName") or parameters.get("InstanceId"):
            raise NotImplementedError("groups are launched from launch templates only")
        if name in self.autoscaling_backend.autoscaling_groups:
            refuse(
                "AutoScalingGroup by this name already exists - A group with the name "
                f"{name} already exists",
                "AlreadyExists",
            )
        _check_sizes(
            parameters["MinSize"],
            parameters["MaxSize"],
            parameters.get("DesiredCapacity", parameters["MinSize"]),
        )
        self._check_template(parameters)
        result = super().create_auto_scaling_group()
        self._keep(parameters)
        return result

    def update_auto_scaling_group(self) -> ActionResult:
        """UpdateAutoScalingGroup."""
        parameters: Mapping[str, Any] = self.params
        group = self._group(parameters["AutoScalingGroupName"])
        minimum = parameters.get("MinSize", group.min_size)
        maximum = parameters.get("MaxSize", group.max_size)
        desired = parameters.get("DesiredCapacity")
        # Without a desired capacity, Auto Scaling moves it into the new limits.
        within = min(max(group.desired_capacity, minimum), maximum)
        _check_sizes(minimum, maximum, within if desired is None else desired)
        self._check_template({"VPCZoneIdentifier": group.vpc_zone_identifier, **parameters})
        if parameters.get("LaunchTemplate") is None and group.mixed_instances_policy:
            self.params.setdefault("MixedInstancesPolicy", group.mixed_instances_policy)
        if desired is None and within != group.desired_capacity:
            self.params["DesiredCapacity"] = within
        result = super().update_auto_scaling_group()
        self._keep(parameters)
        group.reconcile()
        return result

    def delete_auto_scaling_group(self) -> ActionResult:
        """DeleteAutoScalingGroup: requires force if it has instances; deletes its schedules."""
        name = self.params["AutoScalingGroupName"]
        group = self._group(name)
        if group.instance_states and not self.params.get("ForceDelete"):
            refuse(
                "You cannot delete an AutoScalingGroup while there are instances or pending Spot "
                "instance request(s) still in the group.",
                "ResourceInUse",
            )
        group.min_size = 0
        for state in group.instance_states:
            state.protected_from_scale_in = False
        result = super().delete_auto_scaling_group()
        schedules_of(self.autoscaling_backend).forget(name)
        groups = self.autoscaling_backend.autoscaling_groups
        group.status = "Delete in progress"
        groups[name] = group
        TRANSITIONS.begin(GROUP_TYPE, "delete", lambda: groups.pop(name, None))
        return result

    def set_desired_capacity(self) -> ActionResult:
        """SetDesiredCapacity."""
        group = self._group(self.params["AutoScalingGroupName"])
        _check_sizes(group.min_size, group.max_size, self.params["DesiredCapacity"])
        return super().set_desired_capacity()

    def describe_scaling_activities(self) -> ActionResult:
        """DescribeScalingActivities, newest first."""
        name, ids = self.params.get("AutoScalingGroupName"), self.params.get("ActivityIds")
        return ActionResult(
            {
                "Activities": [
                    each
                    for each in activities_of(self.autoscaling_backend)
                    if name in (None, each.auto_scaling_group_name)
                    and (not ids or each.activity_id in ids)
                ]
            }
        )

    def _group(self, name: str) -> Any:
        groups = self.autoscaling_backend.autoscaling_groups
        if name not in groups:
            refuse(f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")
        return groups[name]

    def _keep(self, parameters: Mapping[str, Any]) -> None:
        group = self._group(parameters["AutoScalingGroupName"])
        for field, attribute in _KEPT.items():
            if parameters.get(field) is not None:
                setattr(group, attribute, parameters[field])

    def _check_template(self, parameters: Mapping[str, Any]) -> None:
        mixed = (parameters.get("MixedInstancesPolicy") or {}).get("LaunchTemplate") or {}
        template = parameters.get("LaunchTemplate") or mixed.get("LaunchTemplateSpecification")
        if not template:
            return
        subnets = (parameters.get("VPCZoneIdentifier") or "").split(",")
        overrides = mixed.get("Overrides") or [{}]
        ec2 = self.autoscaling_backend.ec2_backend
        request = {"LaunchTemplate": template, "InstanceType": overrides[0].get("InstanceType")}
        try:
            check_request(ec2, merge(ec2, request, subnet_id=subnets[0] or None))
        except ServiceException as error:
            _, message = code_and_message(error)
            refuse(f"You must use a valid fully-formed launch template. {message}")


def _check_sizes(minimum: int, maximum: int, desired: int) -> None:
    if minimum > maximum:
        refuse(f"Max bound, {maximum}, must be greater than or equal to min bound, {minimum}")
    if not minimum <= desired <= maximum:
        refuse(
            f"Desired capacity:{desired} must be between the specified min size:{minimum} and max "
            f"size:{maximum}"
        )
