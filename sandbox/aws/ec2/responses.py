"""The EC2 response class: the sandbox's calls, then moto's."""

from __future__ import annotations

from sandbox.aws.ec2.capacity_block_calls import CapacityBlockCalls
from sandbox.aws.ec2.capacity_block_extension_calls import CapacityBlockExtensionCalls
from sandbox.aws.ec2.capacity_reservation_calls import CapacityReservationCalls
from sandbox.aws.ec2.endpoint_calls import EndpointCalls
from sandbox.aws.ec2.instance_types import OfferingCalls
from sandbox.aws.ec2.key_pair_calls import KeyPairCalls
from sandbox.aws.ec2.launch_calls import LaunchCalls
from sandbox.aws.ec2.launch_template_calls import LaunchTemplateCalls
from sandbox.aws.ec2.network_calls import NetworkCalls
from sandbox.aws.ec2.placement_groups import PlacementGroupCalls
from sandbox.aws.ec2.security_group_calls import SecurityGroupCalls


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
