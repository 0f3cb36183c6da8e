"""Compute and capacity: instances, volumes, launch templates, groups, reservations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.sandbox.aws.ec2.capacity_block_terms import bought_count
from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item, tags

_GONE = ("terminated", "shutting-down")


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's compute resources."""
    yield from _instances(clients)
    yield from _templates(clients)
    yield from _capacity(clients)
    yield from _autoscaling(clients)


def _instances(clients: Clients) -> Iterator[Item]:
    for reservation in clients.every("ec2", "describe_instances", "Reservations"):
        for each in reservation["Instances"]:
            if each["State"]["Name"] in _GONE:
                continue
            yield Item(
                "ec2:instance",
                each["InstanceId"],
                {
                    "type": each["InstanceType"],
                    "subnet": each.get("SubnetId"),
                    "reservation": each.get("CapacityReservationId"),
                    "placement-group": each["Placement"].get("GroupName"),
                    "tags": tags(each.get("Tags")),
                },
            )
    for volume in clients.every("ec2", "describe_volumes", "Volumes"):
        details = {
            "size": f"{volume['Size']}GiB",
            "type": volume.get("VolumeType"),
            "encrypted": volume["Encrypted"],
            "instances": sorted(each["InstanceId"] for each in volume["Attachments"]),
        }
        yield Item("ec2:volume", volume["VolumeId"], details)


def _templates(clients: Clients) -> Iterator[Item]:
    for template in clients.every("ec2", "describe_launch_templates", "LaunchTemplates"):
        details = {
            "name": template["LaunchTemplateName"],
            "versions": template["LatestVersionNumber"],
            "default": template["DefaultVersionNumber"],
            "tags": tags(template.get("Tags")),
        }
        yield Item("ec2:launch-template", template["LaunchTemplateId"], details)
    for pair in clients.every("ec2", "describe_key_pairs", "KeyPairs"):
        yield Item("ec2:key-pair", pair["KeyPairId"], {"name": pair["KeyName"]})


def _capacity(clients: Clients) -> Iterator[Item]:
    for group in clients.every("ec2", "describe_placement_groups", "PlacementGroups"):
        details = {
            "name": group["GroupName"],
            "strategy": group["Strategy"],
            "tags": tags(group.get("Tags")),
        }
        yield Item("ec2:placement-group", group["GroupId"], details)
    calls = clients.every("ec2", "describe_capacity_reservations", "CapacityReservations")
    for each in calls:
        if each["State"] == "cancelled":
            continue
        details = {
            "kind": each["ReservationType"],
            "type": each["InstanceType"],
            "zone": each["AvailabilityZone"],
            "count": bought_count(each),
            "used": _used(each),
            "owner": each["OwnerId"],
            "tags": tags(each.get("Tags")),
        }
        yield Item("ec2:capacity-reservation", each["CapacityReservationId"], details)
    for group in clients.every("resource-groups", "list_groups", "GroupIdentifiers"):
        members = clients.client("resource-groups").list_group_resources(Group=group["GroupName"])
        arns = sorted(each["ResourceArn"] for each in members["ResourceIdentifiers"])
        yield Item("resource-groups:group", group["GroupName"], {"members": arns})


def _used(reservation: Mapping[str, Any]) -> int | None:
    """Return the number of instances in use; None if 0, like a reservation never used."""
    if reservation["State"] != "active":
        return None
    return reservation["TotalInstanceCount"] - reservation["AvailableInstanceCount"] or None


def _autoscaling(clients: Clients) -> Iterator[Item]:
    for group in clients.every("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups"):
        template = group.get("LaunchTemplate") or {}
        yield Item(
            "autoscaling:group",
            group["AutoScalingGroupName"],
            {
                "minimum": group["MinSize"],
                "desired": group["DesiredCapacity"],
                "maximum": group["MaxSize"],
                "template": template.get("LaunchTemplateId"),
                "version": template.get("Version"),
                "subnets": group.get("VPCZoneIdentifier"),
                "instances": len(group["Instances"]),
                "tags": tags(group.get("Tags")),
            },
        )
        yield from _hooks(clients, group["AutoScalingGroupName"])
    actions = clients.every(
        "autoscaling", "describe_scheduled_actions", "ScheduledUpdateGroupActions"
    )
    for action in actions:
        details = {
            "group": action["AutoScalingGroupName"],
            "minimum": action.get("MinSize"),
            "desired": action.get("DesiredCapacity"),
            "maximum": action.get("MaxSize"),
        }
        yield Item("autoscaling:scheduled-action", action["ScheduledActionName"], details)


def _hooks(clients: Clients, group: str) -> Iterator[Item]:
    described = clients.client("autoscaling").describe_lifecycle_hooks(AutoScalingGroupName=group)
    for hook in described["LifecycleHooks"]:
        details = {"group": group, "seconds": hook["HeartbeatTimeout"]}
        yield Item("autoscaling:lifecycle-hook", hook["LifecycleHookName"], details)
