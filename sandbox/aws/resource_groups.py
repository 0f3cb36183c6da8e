"""GroupResources, UngroupResources and ListGroupResources for capacity reservations."""

from __future__ import annotations

import json
from typing import Any

from moto.ec2.models import ec2_backends
from moto.resourcegroups.responses import ResourceGroupsResponse

from sandbox.aws.ec2.reservation_groups import GroupMembers, group_members


class SandboxResourceGroupsResponse(ResourceGroupsResponse):
    """The calls on the content of a group; moto answers those on the group."""

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
        """DeleteGroup: what was in it is in no group any more."""
        self._members().clear()
        return super().delete_group()

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

    def _members(self) -> list[str]:
        asked = self._get_param("Group") or self._get_param("GroupName")
        group = self.resourcegroups_backend.get_group(asked.rpartition("/")[2])
        all_members: GroupMembers = group_members(ec2_backends[self.current_account][self.region])
        return all_members.by_name.setdefault(group.name, [])
