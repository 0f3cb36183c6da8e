"""The service-linked roles that a stack needs.

AWS creates each role when a service first needs it, if the caller can create service-linked roles.
Without this permission, `up` fails halfway.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks.html
    https://docs.aws.amazon.com/eks/latest/userguide/using-service-linked-roles-eks-nodegroups.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/autoscaling-service-linked-role.html
    https://docs.aws.amazon.com/batch/latest/userguide/using-service-linked-roles-batch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/service-linked-roles-spot-instance-requests.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.components.architectures.registry import account_of
from trainyard.components.checks.needs import ServiceRole

if TYPE_CHECKING:
    from trainyard.components.config.stack_models import AnyStackConfig


def service_roles(config: AnyStackConfig) -> Iterator[ServiceRole]:
    """Yield the roles that a stack needs."""
    yield from account_of(config).needs.service_roles
    spot = next((pool for pool in config.pools() if pool.purchase_option == "spot"), None)
    if spot is not None:
        yield ServiceRole("AWSServiceRoleForEC2Spot", "spot.amazonaws.com", spot.key)
