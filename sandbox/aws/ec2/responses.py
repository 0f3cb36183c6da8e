"""The EC2 response class: the sandbox's calls, then moto's."""

from __future__ import annotations

from trainyard.sandbox.aws.ec2.capacity_block_calls import CapacityBlockCalls
from trainyard.sandbox.aws.ec2.capacity_block_extension_calls import CapacityBlockExtensionCalls
from trainyard.sandbox.aws.ec2.capacity_reservation_calls import CapacityReservationCalls
from trainyard.sandbox.aws.ec2.endpoint_calls import EndpointCalls
from trainyard.sandbox.aws.ec2.instance_types import OfferingCalls
from trainyard.sandbox.aws.ec2.key_pair_calls import KeyPairCalls
from trainyard.sandbox.aws.ec2.launch_calls import LaunchCalls
from trainyard.sandbox.aws.ec2.launch_template_calls import LaunchTemplateCalls
from trainyard.sandbox.aws.ec2.network_calls import NetworkCalls
from trainyard.sandbox.aws.ec2.placement_groups import PlacementGroupCalls
from trainyard.sandbox.aws.ec2.security_group_calls import SecurityGroupCalls


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
