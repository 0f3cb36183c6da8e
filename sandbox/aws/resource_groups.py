"""Members and configuration of resource groups of capacity reservations."""

from __future__ import annotations

import json
from typing import Any

from moto.ec2.models import ec2_backends
from moto.resourcegroups.exceptions import BadRequestException
from moto.resourcegroups.responses import ResourceGroupsResponse

from trainyard.sandbox.aws.ec2.capacity_reservations import GroupMembers, group_members


class SandboxResourceGroupsResponse(ResourceGroupsResponse):
    """Calls that moto lacks or on which it fails; moto handles the others."""

    def group_resources(self) -> str:
        """GroupResources."""
        members = self._members()
        arns = self._get_param("ResourceArns")
        members.extend(arn for arn in arns if arn not in members)
        return json.dumps({"Succeeded": arns, "Failed": [], "Pending": []})

    def ungroup_resources(self) -> str:
        """UngroupResources."""
        members = self._members()
        arns = self._get_param("ResourceArns")
        members[:] = [arn for arn in members if arn not in arns]
        return json.dumps({"Succeeded": arns, "Failed": [], "Pending": []})

    def delete_group(self) -> str:
        """DeleteGroup: also removes its members from the group."""
        self._members().clear()
        return super().delete_group()

    def get_group(self) -> str:
        """GetGroup: moto does not know a group by `Group`, which replaces `GroupName`."""
        group = self._group()
        described = {"GroupArn": group.arn, "Name": group.name, "Description": group.description}
        return json.dumps({"Group": described})

    def list_group_resources(self) -> str:  # type: ignore[override] - moto's is a stub
        """ListGroupResources."""
        identifiers: list[dict[str, Any]] = [
            {"ResourceArn": arn, "ResourceType": "AWS::EC2::CapacityReservation"}
            for arn in self._members()
        ]
        return json.dumps(
            {
                "ResourceIdentifiers": identifiers,
                "Resources": [{"Identifier": each} for each in identifiers],
            }
        )

    def get_group_configuration(self) -> str:
        """GetGroupConfiguration: moto fails for a group given by ARN, or one that does not exist.

        Raises:
            BadRequestException: The group has a query, and therefore no configuration.
        """
        group = self._group()
        if not group.configuration:
            raise BadRequestException("The group has a resource query, and no configuration.")
        configuration = {"Configuration": group.configuration, "Status": "UPDATE_COMPLETE"}
        return json.dumps({"GroupConfiguration": configuration})

    def get_group_query(self) -> str:
        """GetGroupQuery.

        Raises:
            BadRequestException: The group has a configuration, and therefore no query.
        """
        if self._group().configuration:
            raise BadRequestException("The group has a configuration, and no resource query.")
        return super().get_group_query()

    def _members(self) -> list[str]:
        all_members: GroupMembers = group_members(ec2_backends[self.current_account][self.region])
        return all_members.by_name.setdefault(self._group().name, [])

    def _group(self) -> Any:
        """Return the group in the request, by name or ARN."""
        asked = self._get_param("Group") or self._get_param("GroupName")
        return self.resourcegroups_backend.get_group(asked.rpartition("/")[2])
