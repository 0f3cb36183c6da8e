"""A planned and registered stack of the repository, with shortcuts to its parts."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from components.eks.node_group_plan import NodeGroupPlan
from components.eks.plan import EksPlan
from tests.support.cloud import Cloud, Registered

CLUSTER_SECURITY_GROUP = "sg-0c1u5te2000000000"
"""The test engine's answer for the security group that EKS creates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltStack:
    """One stack."""

    config: dict[str, Any]
    """`config` of the stack file, completed with the ids of the account."""
    plan: EksPlan
    cloud: Cloud

    @property
    def system(self) -> NodeGroupPlan:
        """The node group for cluster services."""
        return self.plan.node_groups[0]

    @property
    def group(self) -> NodeGroupPlan:
        """The node group for training jobs."""
        (group,) = self.plan.node_groups[1:]
        return group

    @property
    def cluster(self) -> dict[str, Any]:
        """Inputs of the control plane."""
        (made,) = self.cloud.of_type("eks:index:Cluster")
        return made.inputs

    def managed(self, group: NodeGroupPlan) -> dict[str, Any]:
        """Return the inputs of a managed node group."""
        return self.of_group(group, "aws:eks/nodeGroup:NodeGroup", "-node-group")

    def template(self, group: NodeGroupPlan) -> dict[str, Any]:
        """Return the inputs of the launch template of a node group."""
        return self.of_group(group, "aws:ec2/launchTemplate:LaunchTemplate", "-launch-template")

    def of_group(self, group: NodeGroupPlan, type_: str, suffix: str) -> dict[str, Any]:
        """Return the inputs of a resource that belongs to one node group."""
        return self.cloud.one(f"{self.plan.name}-{group.name}{suffix}", type_).inputs

    def user_data(self, group: NodeGroupPlan) -> str:
        """Return the user data of a node of the group."""
        return base64.b64decode(self.template(group)["userData"]).decode()

    def role_policies(self, group: NodeGroupPlan) -> tuple[set[str], set[str]]:
        """Return the names of the managed and the inline policies of the nodes' role."""
        role = f"{self.plan.name}-{group.name}-role"

        def of(type_: str) -> list[Registered]:
            made = self.cloud.of_type(f"aws:iam/{type_}")
            return [policy for policy in made if policy.inputs["role"] == role]

        attached = of("rolePolicyAttachment:RolePolicyAttachment")
        inline = of("rolePolicy:RolePolicy")
        prefix = f"{self.plan.name}-{group.name}-"
        return (
            {policy.inputs["policyArn"].rpartition("/")[2] for policy in attached},
            {policy.name.removeprefix(prefix) for policy in inline},
        )

    def zone_of(self, group: NodeGroupPlan) -> str | None:
        """Return the zone of the only subnet of a node group, in the order of the account."""
        (reference,) = group.subnets
        return self.plan.network.subnet(reference).availability_zone or _zone_of_fixture(reference)


def _zone_of_fixture(subnet_id: str) -> str:
    # The first letter of a subnet id of the sandbox's account is its zone.
    return f"us-west-2{subnet_id[len('subnet-0')]}"
