"""CreatePlacementGroup, DescribePlacementGroups, DeletePlacementGroup.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.responses import EC2Response
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.ec2.capacity_reservations import reservations_of
from trainyard.sandbox.aws.ec2.filters import matches, tags_for
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.state import state_of

_STRATEGIES = ("cluster", "spread", "partition")

_FILTERS = {
    "group-name": "GroupName",
    "group-arn": "GroupArn",
    "state": "State",
    "strategy": "Strategy",
    "spread-level": "SpreadLevel",
}


@dataclass
class PlacementGroups:
    """The placement groups of one account and region, by name, as the API describes them."""

    by_name: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(
        self, name: str, strategy: str, arn: str, group_id: str | None = None
    ) -> dict[str, Any]:
        """Add an available group; generates an id if none is given."""
        group = {
            "GroupName": name,
            "State": "available",
            "Strategy": strategy,
            "GroupId": group_id or f"pg-{mock_random.get_random_hex(17)}",
            "GroupArn": arn,
            "Tags": [],
        }
        self.by_name[name] = group
        return group

    def named(self, name: str) -> dict[str, Any]:
        """Return a group.

        Raises:
            EC2ClientError: No group has this name.
        """
        if name not in self.by_name:
            refuse("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
        return self.by_name[name]


def placement_groups_of(ec2_backend: Any) -> PlacementGroups:
    """Return the placement groups of an EC2 backend."""
    return state_of(ec2_backend, PlacementGroups)


def placement_group_arn(partition: str, region: str, account_id: str, name: str) -> str:
    """Return the ARN of a placement group."""
    return f"arn:{partition}:ec2:{region}:{account_id}:placement-group/{name}"


class PlacementGroupCalls(EC2Response):
    """The three calls; mixed into the EC2 response class."""

    def create_placement_group(self) -> ActionResult:
        """CreatePlacementGroup."""
        parameters: Mapping[str, Any] = self.params
        groups = placement_groups_of(self.ec2_backend)
        name = parameters.get("GroupName")
        if not name:
            refuse("MissingParameter", "The request must contain the parameter groupName")
        if name in groups.by_name:
            refuse(
                "InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists."
            )
        strategy = parameters.get("Strategy", "cluster")
        if strategy not in _STRATEGIES:
            refuse(
                "InvalidParameterValue",
                f"Value ({strategy}) for parameter strategy is invalid. Unknown strategy.",
            )
        self.error_on_dryrun()
        arn = placement_group_arn(self.partition, self.region, self.current_account, name)
        group = groups.add(name, strategy, arn)
        group["Tags"] = tags_for(parameters, "placement-group")
        if strategy == "partition":
            group["PartitionCount"] = int(parameters.get("PartitionCount") or 2)
        if strategy == "spread":
            group["SpreadLevel"] = parameters.get("SpreadLevel") or "rack"
        _tag(self.ec2_backend, group)
        return ActionResult({"PlacementGroup": group})

    def describe_placement_groups(self) -> ActionResult:
        """DescribePlacementGroups; a name that does not exist is an error, as in EC2."""
        parameters: Mapping[str, Any] = self.params
        groups = placement_groups_of(self.ec2_backend)
        names, ids = parameters.get("GroupNames") or [], parameters.get("GroupIds") or []
        chosen = [groups.named(name) for name in names] or list(groups.by_name.values())
        described = [_described(self.ec2_backend, group) for group in chosen]
        return ActionResult(
            {
                "PlacementGroups": [
                    group
                    for group in described
                    if (not ids or group["GroupId"] in ids)
                    and matches(group, parameters.get("Filters"), _FILTERS)
                ]
            }
        )

    def delete_placement_group(self) -> EmptyResult:
        """DeletePlacementGroup: rejected while it has instances or an active reservation."""
        groups = placement_groups_of(self.ec2_backend)
        group = groups.named(self.params["GroupName"])
        if _in_use(self.ec2_backend, group):
            refuse(
                "InvalidPlacementGroup.InUse",
                f"The placement group '{group['GroupName']}' is in use and may not be deleted.",
            )
        self.error_on_dryrun()
        del groups.by_name[group["GroupName"]]
        self.ec2_backend.tags.pop(group["GroupId"], None)
        return EmptyResult()


def _in_use(ec2_backend: Any, group: Mapping[str, Any]) -> bool:
    reserved = any(
        reservation.placement_group_arn == group["GroupArn"] and reservation.state == "active"
        for reservation in reservations_of(ec2_backend).by_id.values()
    )
    return reserved or any(
        instance.placement.group_name == group["GroupName"]
        for instance in ec2_backend.all_instances()
        if instance.state not in ("terminated", "shutting-down")
    )


def _tag(ec2_backend: Any, group: Mapping[str, Any]) -> None:
    tags = {tag["Key"]: tag["Value"] for tag in group["Tags"]}
    if tags:
        ec2_backend.create_tags([group["GroupId"]], tags)


def _described(ec2_backend: Any, group: Mapping[str, Any]) -> dict[str, Any]:
    tags = ec2_backend.tags.get(group["GroupId"], {})
    return {**group, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
