"""The service-linked roles in whose name AWS works for a stack.

AWS makes each of them when a service first needs it, on behalf of a caller who may create
service-linked roles. One who may not finds out half-way through an `up`.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
    https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks-nodegroups.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html
    https://docs.aws.amazon.com/batch/latest/userguide/using-service-linked-roles-batch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.config.pools import pools

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig


@dataclass(frozen=True, slots=True)
class ServiceRole:
    """A service-linked role, and what it is needed for."""

    name: str
    service: str
    """As `iam:CreateServiceLinkedRole` takes it."""
    key: str
    """What of the stack file needs it."""


def service_roles(config: AnyStackConfig) -> Iterator[ServiceRole]:
    """Yield the roles that a stack needs."""
    kind = config.architecture.kind
    if kind == "eks":
        yield ServiceRole("AWSServiceRoleForAmazonEKS", "eks.amazonaws.com", "architecture")
        yield ServiceRole(
            "AWSServiceRoleForAmazonEKSNodegroup",
            "eks-nodegroup.amazonaws.com",
            "architecture.system_node_group",
        )
        yield ServiceRole(
            "AWSServiceRoleForAutoScaling", "autoscaling.amazonaws.com", "architecture.node_groups"
        )
    if kind == "batch":
        yield ServiceRole("AWSServiceRoleForBatch", "batch.amazonaws.com", "architecture")
    spot = next((pool for pool in pools(config) if pool.purchase_option == "spot"), None)
    if spot is not None:
        yield ServiceRole("AWSServiceRoleForEC2Spot", "spot.amazonaws.com", spot.key)
