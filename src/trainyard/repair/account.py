"""The node groups of a cluster as the account has them, and the termination of an instance.

Sources:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html:
        without a decrement, Auto Scaling launches an instance to replace the terminated one
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-launch-before-terminate-account-setting.html:
        the replacement of an instance that is marked unhealthy can be launched before the
        termination, which a full reservation cannot hold; so this program terminates it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.diagnosis.failed_pool import ReservationUse, read_reservations
from trainyard.diagnosis.node_groups import (
    described_scaling_group,
    latest_refusal,
    scaling_group_of,
)
from trainyard.repair.decision import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """boto3 clients of the account and region of a cluster."""

    ec2: Any
    eks: Any
    autoscaling: Any
    cluster: str
    """Name of the cluster."""

    def groups(
        self, plans: Iterable[NodeGroupPlan], outputs: Mapping[str, Mapping[str, Any]]
    ) -> tuple[Group, ...]:
        """Return the node groups of a stack that are deployed.

        Args:
            plans: Node groups in the plan of the stack.
            outputs: Node groups in the outputs of the stack, by name.

        Raises:
            botocore.exceptions.ClientError: AWS rejected a request.
        """
        known = {plan.name: plan for plan in plans}
        return tuple(
            self._group(known[name], output) for name, output in outputs.items() if name in known
        )

    def reservations(self, groups: Iterable[Group]) -> dict[str, ReservationUse]:
        """Return the reservations of groups and their instances, by id.

        Raises:
            botocore.exceptions.ClientError: AWS rejected a request.
        """
        ids = {
            each for group in groups for each in (*group.targets, *group.reservation_of.values())
        }
        return {each.reservation_id: each for each in read_reservations(self.ec2, sorted(ids))}

    def terminate(self, instance_id: str) -> None:
        """Terminate an instance of an Auto Scaling group, which launches another one.

        Raises:
            botocore.exceptions.ClientError: AWS rejected the request.
        """
        self.autoscaling.terminate_instance_in_auto_scaling_group(
            InstanceId=instance_id, ShouldDecrementDesiredCapacity=False
        )

    def refusal(self, group: Group) -> str:
        """Return why the last launch of a group failed; empty if it did not fail.

        Raises:
            botocore.exceptions.ClientError: AWS rejected the request.
        """
        return latest_refusal(self.autoscaling, group.scaling_group)

    def _group(self, plan: NodeGroupPlan, output: Mapping[str, Any]) -> Group:
        name = scaling_group_of(self.eks, self.cluster, output)
        found = described_scaling_group(self.autoscaling, name)
        instances = {each["InstanceId"]: each["LifecycleState"] for each in found["Instances"]}
        return Group(
            name=plan.name,
            scaling_group=name,
            desired=found["DesiredCapacity"],
            instances=instances,
            at_once=plan.config.maximum_parallel_repairs,
            repaired_by_eks=plan.management == "managed" and plan.config.auto_repair,
            suspended=tuple(each["ProcessName"] for each in found.get("SuspendedProcesses") or []),
            is_reserved=plan.capacity.is_reserved,
            targets=_targets(plan),
            reservation_of=self._reservation_of(instances) if plan.capacity.is_reserved else {},
        )

    def _reservation_of(self, instances: Iterable[str]) -> dict[str, str]:
        ids = sorted(instances)
        if not ids:
            return {}
        pages = self.ec2.get_paginator("describe_instances").paginate(
            Filters=[{"Name": "instance-id", "Values": ids}]
        )
        return {
            each["InstanceId"]: each["CapacityReservationId"]
            for page in pages
            for reserved in page["Reservations"]
            for each in reserved["Instances"]
            if each.get("CapacityReservationId")
        }


def _targets(plan: NodeGroupPlan) -> tuple[str, ...]:
    """Return the ids of the reservations of a group; a member can be an ARN, which ends with it."""
    members = (each.rpartition("/")[2] for each in plan.capacity.reservation_group_members)
    one = plan.capacity.reservation_id
    return tuple(each for each in (one, *members) if each)
