"""The launch template of a node group or compute environment.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa-launch-template.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pulumi
import pulumi_aws as aws

from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.compute.interface_plan import InterfacePlan, NetworkInterface
from trainyard.components.compute.node_pool_plan import RootVolumePlan
from trainyard.components.naming import TEMPLATE

TAGGED_AT_LAUNCH = ("instance", "volume", "network-interface")
"""Resource types that a launch creates. Tags of the template itself do not apply to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLaunchTemplateArgs:
    """Arguments of `NodeLaunchTemplate`."""

    instance_type: str
    capacity: CapacityPlan
    reservation_id: pulumi.Input[str] | None = None
    """The reservation that the stack creates; None if `capacity` has its id, or without one."""
    reservation_group_arn: pulumi.Input[str] | None
    """The reservation group to launch into, existing or created by the stack; None without a
    group."""
    market_type: Literal["spot", "capacity-block"] | None
    """Market type of the template. It can differ from that of `capacity`: EKS refuses `spot` in the
    template of a managed node group, where it is the group's capacity type, and Batch ignores
    it."""
    interfaces: InterfacePlan | None
    """None without EFA: the instance then has one interface, which EC2 creates."""
    cluster_security_group_id: pulumi.Input[str] | None
    """The cluster security group, which EKS creates: without it a node cannot reach the API server.
    None for Batch."""
    efa_security_group_id: pulumi.Input[str] | None
    """Required with `interfaces`."""
    placement_group_name: pulumi.Input[str] | None
    root_volume: RootVolumePlan
    metadata_hop_limit: int
    """Hops that answers of the instance metadata service, such as credentials, travel."""
    user_data: pulumi.Input[str] | None
    """Plain text; encoded here. None if the image needs no user data."""
    image_id: pulumi.Input[str] | None
    """None if EKS (managed node groups) or Batch chooses the AMI."""
    instance_profile_arn: pulumi.Input[str] | None
    """None if EKS (managed node groups) or the compute environment sets the profile."""
    ssh_key_name: str | None
    node_name: str
    """`Name` tag of the nodes, volumes and network interfaces."""
    tags: Mapping[str, str]


class NodeLaunchTemplate(pulumi.ComponentResource):
    """The launch template of one node group, used with an explicit version.

    The template contains instance type, market type and reservation, because a Capacity Block
    requires all three. Interfaces have no subnet: Auto Scaling groups choose it, and EKS refuses
    one in the template. IMDSv2 is required and the root volume is encrypted.

    Children: `<name>-template` (`aws.ec2.LaunchTemplate`).
    """

    launch_template_id: pulumi.Output[str]
    version: pulumi.Output[str]
    """Number of the newest version. A group that uses it shows template changes in the preview,
    which `$Latest` would hide."""

    def __init__(
        self,
        name: str,
        args: NodeLaunchTemplateArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:compute:NodeLaunchTemplate", name, {}, opts)

        template = aws.ec2.LaunchTemplate(
            f"{name}{TEMPLATE}",
            instance_type=args.instance_type,
            image_id=args.image_id,
            key_name=args.ssh_key_name,
            user_data=_user_data(args),
            iam_instance_profile=_instance_profile(args),
            instance_market_options=_market_options(args),
            capacity_reservation_specification=_reservation_target(args),
            placement=_placement(args),
            network_interfaces=_network_interfaces(args),
            vpc_security_group_ids=_instance_security_groups(args),
            block_device_mappings=[_root_volume(args.root_volume)],
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_endpoint="enabled",
                http_tokens="required",
                http_put_response_hop_limit=args.metadata_hop_limit,
            ),
            tag_specifications=[
                aws.ec2.LaunchTemplateTagSpecificationArgs(
                    resource_type=resource_type, tags={"Name": args.node_name, **args.tags}
                )
                for resource_type in TAGGED_AT_LAUNCH
            ],
            update_default_version=True,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )

        self.launch_template_id = template.id
        self.version = template.latest_version.apply(_version_number)
        self.register_outputs(
            {"launch_template_id": self.launch_template_id, "version": self.version}
        )


def _user_data(args: NodeLaunchTemplateArgs) -> pulumi.Output[str] | None:
    if args.user_data is None:
        return None
    return pulumi.Output.from_input(args.user_data).apply(_encode)


def _encode(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _version_number(version: float) -> str:
    # The engine passes numbers as floats, but AWS expects the version as a string of digits.
    return str(int(version))


def _instance_profile(
    args: NodeLaunchTemplateArgs,
) -> aws.ec2.LaunchTemplateIamInstanceProfileArgs | None:
    if args.instance_profile_arn is None:
        return None
    return aws.ec2.LaunchTemplateIamInstanceProfileArgs(arn=args.instance_profile_arn)


def _market_options(
    args: NodeLaunchTemplateArgs,
) -> aws.ec2.LaunchTemplateInstanceMarketOptionsArgs | None:
    if args.market_type is None:
        return None
    return aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type=args.market_type)


def _reservation_target(
    args: NodeLaunchTemplateArgs,
) -> aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
    capacity = args.capacity
    reservation_id = args.reservation_id or capacity.reservation_id
    if reservation_id is None and args.reservation_group_arn is None:
        return None
    target = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=reservation_id,
        capacity_reservation_resource_group_arn=args.reservation_group_arn,
    )
    return aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
        capacity_reservation_preference=capacity.preference,
        capacity_reservation_target=target,
    )


def _placement(args: NodeLaunchTemplateArgs) -> aws.ec2.LaunchTemplatePlacementArgs | None:
    if args.placement_group_name is None:
        return None
    return aws.ec2.LaunchTemplatePlacementArgs(group_name=args.placement_group_name)


def _instance_security_groups(args: NodeLaunchTemplateArgs) -> list[pulumi.Input[str]] | None:
    # EC2 accepts security groups on the instance or on its interfaces, not on both.
    return None if args.interfaces else _cluster_group(args) or None


def _cluster_group(args: NodeLaunchTemplateArgs) -> list[pulumi.Input[str]]:
    return [] if args.cluster_security_group_id is None else [args.cluster_security_group_id]


def _network_interfaces(
    args: NodeLaunchTemplateArgs,
) -> list[aws.ec2.LaunchTemplateNetworkInterfaceArgs] | None:
    if args.interfaces is None:
        return None
    return [
        aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=interface.network_card_index,
            device_index=interface.device_index,
            interface_type=interface.interface_type,
            security_groups=_interface_security_groups(interface, args),
            delete_on_termination="true",
            description=_interface_description(interface),
        )
        for interface in args.interfaces.interfaces
    ]


def _interface_security_groups(
    interface: NetworkInterface, args: NodeLaunchTemplateArgs
) -> list[pulumi.Input[str]]:
    if args.efa_security_group_id is None:
        raise ValueError("a launch template with EFA interfaces needs an EFA security group")
    if interface.takes_address:
        return [*_cluster_group(args), args.efa_security_group_id]
    # An `efa-only` interface has no IP traffic, so it does not need the cluster security group.
    return [args.efa_security_group_id]


def _interface_description(interface: NetworkInterface) -> str:
    return (
        f"card {interface.network_card_index} device {interface.device_index} "
        f"{interface.interface_type}"
    )


def _root_volume(volume: RootVolumePlan) -> aws.ec2.LaunchTemplateBlockDeviceMappingArgs:
    return aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
        device_name=volume.device_name,
        ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
            volume_size=volume.size_gib,
            volume_type=volume.volume_type,
            iops=volume.iops,
            throughput=volume.throughput_mibps,
            encrypted="true",
            delete_on_termination="true",
        ),
    )
