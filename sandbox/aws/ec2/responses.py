"""The EC2 response class: the sandbox's calls, then moto's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from moto.core.resource_tagging import TaggedResource
from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response

from trainyard.sandbox.aws.ec2.capacity_blocks import (
    CapacityBlockCalls,
    CapacityBlockExtensionCalls,
)
from trainyard.sandbox.aws.ec2.capacity_reservation_calls import CapacityReservationCalls
from trainyard.sandbox.aws.ec2.instance_types import OfferingCalls
from trainyard.sandbox.aws.ec2.launch_template_calls import LaunchTemplateCalls
from trainyard.sandbox.aws.ec2.launches import LaunchCalls
from trainyard.sandbox.aws.ec2.network_calls import EndpointCalls, NetworkCalls, SecurityGroupCalls
from trainyard.sandbox.aws.ec2.placement_groups import PlacementGroupCalls, placement_groups_of
from trainyard.sandbox.aws.errors import refuse


class KeyPairCalls(EC2Response):
    """Mixed into the EC2 response class."""

    def describe_key_pairs(self) -> ActionResult:
        """DescribeKeyPairs."""
        for name in self.params.get("KeyNames") or []:
            if name not in self.ec2_backend.key_pairs:
                refuse("InvalidKeyPair.NotFound", f"The key pair '{name}' does not exist")
        return super().describe_key_pairs()


# EC2's part of the list of tagged objects, which also has objects that are gone.
#
# `tag:GetResources` lists instances as long as EC2 describes them, an hour after their termination,
# and other objects for hours. Here they stay as long as the account keeps their tags. Roles and
# Auto Scaling groups are never in the list, as in moto.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/how-ec2-instance-termination-works.html
#     https://github.com/boto/boto3/issues/3341 and https://github.com/aws/aws-cli/issues/4173
#         (instances and volumes that are gone)
#     https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/supported-services.html
#         (roles and Auto Scaling groups)
#     https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html (ARNs)


_TYPES = {
    "cr": "capacity-reservation",
    "eipalloc": "elastic-ip",
    "eni": "network-interface",
    "igw": "internet-gateway",
    "lt": "launch-template",
    "nat": "natgateway",
    "rtb": "route-table",
    "sg": "security-group",
    "sgr": "security-group-rule",
    "subnet": "subnet",
    "vol": "volume",
    "vpc": "vpc",
    "vpce": "vpc-endpoint",
}
"""Types in ARNs by prefix of the id."""
Listing = Callable[[Any], Iterator[TaggedResource]]


def with_gone(listed: Listing) -> Listing:
    """Return the listing with deleted objects, which moto leaves out."""

    def iter_tagged_resources(backend: Any) -> Iterator[TaggedResource]:
        arns: set[str] = set()
        for each in listed(backend):
            arns.add(each.arn)
            yield each
        for identifier, tags in list(backend.tags.items()):
            kind = _TYPES.get(identifier.partition("-")[0], "")
            owner = f"{backend.region_name}:{backend.account_id}"
            arn = f"arn:{backend.partition}:ec2:{owner}:{kind}/{identifier}"
            if kind and arn not in arns:
                yield TaggedResource(arn=arn, tags=dict(tags), resource_type=f"ec2:{kind}")
        for group in placement_groups_of(backend).by_name.values():
            yield TaggedResource(
                arn=group["GroupArn"],
                tags=dict(backend.tags.get(group["GroupId"], {})),
                resource_type="ec2:placement-group",
            )

    return iter_tagged_resources


class SandboxEc2Response(
    LaunchCalls,
    NetworkCalls,
    EndpointCalls,
    SecurityGroupCalls,
    KeyPairCalls,
    LaunchTemplateCalls,
    PlacementGroupCalls,
    CapacityReservationCalls,
    CapacityBlockCalls,
    CapacityBlockExtensionCalls,
    OfferingCalls,
):
    """Handles EC2's calls."""
