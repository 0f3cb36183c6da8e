"""The network of a cluster: an existing VPC, a new one, or that of another stack."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.components.config.base import (
    EffectiveWith,
    Form,
    Ipv4Cidr,
    StrictModel,
    SubnetId,
    Switch,
    VpcId,
    Zone,
    resource_id,
)

GatewayService = Literal["s3", "dynamodb"]
"""AWS services with gateway endpoints.

https://docs.aws.amazon.com/vpc/latest/privatelink/gateway-endpoints.html
"""
InternetGatewayId = Annotated[str, resource_id("igw", "an internet gateway")]
RouteTableId = Annotated[str, resource_id("rtb", "a route table")]
NatGatewayId = Annotated[str, resource_id("nat", "a NAT gateway")]
AllocationId = Annotated[str, resource_id("eipalloc", "the allocation of an Elastic IP address")]
VpcEndpointId = Annotated[str, resource_id("vpce", "a VPC endpoint")]
CidrAssociationId = Annotated[
    str,
    Form(
        pattern=r"vpc-cidr-assoc-(?:[0-9a-f]{8}|[0-9a-f]{17})",
        expected=(
            "the id of the association of a CIDR block: `vpc-cidr-assoc-` and 17 (or 8) "
            "hexadecimal digits"
        ),
        example="vpc-cidr-assoc-0123456789abcdef0",
    ),
]


class AdoptedZone(StrictModel):
    """The objects of one zone of an adopted VPC: all that the stack would create in it."""

    private_subnet_id: SubnetId
    """ID of the private subnet."""
    private_route_table_id: RouteTableId
    """ID of the route table of the private subnet. Zones whose private subnets share a route table
    name the same one."""
    public_subnet_id: SubnetId | None = None
    """ID of the public subnet, if the VPC has public subnets."""
    nat_gateway_id: NatGatewayId | None = None
    """ID of the NAT gateway, if the zone has one."""
    allocation_id: Annotated[
        AllocationId | None,
        EffectiveWith((Switch("nat_gateway_id"),), why="only a NAT gateway has it"),
    ] = None
    """Allocation ID of the Elastic IP address of the NAT gateway."""


class AdoptedVpc(StrictModel):
    """An existing VPC that becomes part of the stack, as it is."""

    vpc_id: VpcId
    """ID of the VPC."""
    cidr_association_ids: tuple[CidrAssociationId, ...] = ()
    """IDs of the associations of the secondary CIDR blocks, in their order."""
    internet_gateway_id: InternetGatewayId | None = None
    """ID of the internet gateway, if the VPC has public subnets."""
    public_route_table_id: RouteTableId | None = None
    """ID of the route table of the public subnets, with the route to the internet gateway."""
    gateway_endpoint_ids: dict[GatewayService, VpcEndpointId] = Field(default_factory=dict)
    """IDs of the gateway endpoints, by service. The stack creates others of `gateway_endpoints`."""
    zones: Annotated[dict[Zone, AdoptedZone], Field(min_length=1)]
    """Objects in the zones, by entry of `availability_zones`. The stack creates the objects of
    other zones."""


# https://www.pulumi.com/docs/iac/concepts/stacks/#stackreferences
StackName = Annotated[
    str,
    Form(
        pattern=r"(?:[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/)?[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}",
        expected="the name of a stack, or `organization/project/stack`",
        example="vpc-one-az",
    ),
]
EndpointService = Literal[
    "aps-workspaces",
    "autoscaling",
    "batch",
    "cloudformation",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "ecs-agent",
    "ecs-telemetry",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "fsx",
    "guardduty-data",
    "kms",
    "logs",
    "monitoring",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "ssmmessages",
    "sts",
    "xray",
]
"""Last part of the service name of an interface endpoint.

https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
"""


class ExistingVpc(StrictModel):
    """An existing VPC, given by its id. The program never changes it."""

    kind: Literal["existing-vpc"]
    """An existing VPC."""
    vpc_id: VpcId
    """ID of the VPC. Changing it replaces the cluster."""
    public_subnet_ids: tuple[SubnetId, ...]
    """IDs of subnets with a route to an internet gateway; `[]` if the VPC has none. The control
    plane and load balancers use them. EKS needs subnets in at least two zones."""
    private_subnet_ids: Annotated[tuple[SubnetId, ...], Field(min_length=1)]
    """IDs of subnets with a route to a NAT gateway. Nodes run here. A reservation needs a subnet in
    its zone."""

    @property
    def is_unread(self) -> bool:
        """Whether this is a placeholder for another stack's network, which was not read."""
        return not self.vpc_id.startswith("vpc-")


class NewVpc(StrictModel):
    """A VPC that the stack creates or adopts, with a private subnet in each zone."""

    kind: Literal["new-vpc"]
    """A new VPC."""
    availability_zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones of the VPC, by name or zone id. EKS needs at least two. Add new zones at the end: the
    order determines the addresses of each subnet."""
    addresses: Literal["eksctl", "vpc-multi-az", "vpc-one-az"] = "eksctl"
    """Address layout of the subnets. `eksctl`: an eighth of the VPC for each subnet
    (192.168.0.0/16, /19), for up to four zones. `vpc-multi-az` and `vpc-one-az`: the layouts of the
    CloudFormation templates of these names, with 10.0.0.0/16 for public subnets and secondary CIDR
    blocks for private ones."""
    public_subnets: bool = True
    """Whether each zone also has a public subnet, with a route to an internet gateway. If false,
    the VPC has no internet gateway, and `nat_gateways` must be `none`."""
    cidr: Ipv4Cidr | None = None
    """CIDR block of the VPC, between /16 and /28. If omitted, the one of `addresses`."""
    secondary_cidrs: tuple[Ipv4Cidr, ...] = ()
    """Secondary CIDR blocks of the VPC, for the subnets in `public_subnet_cidrs` and
    `private_subnet_cidrs`."""
    public_subnet_cidrs: Annotated[
        tuple[Ipv4Cidr, ...],
        EffectiveWith((Switch("public_subnets"),), why="the VPC has no public subnets"),
    ] = ()
    """CIDR blocks of the public subnets, one for each zone, instead of those of `addresses`."""
    private_subnet_cidrs: tuple[Ipv4Cidr, ...] = ()
    """CIDR blocks of the private subnets, one for each zone, instead of those of `addresses`."""
    nat_gateways: Literal["none", "single", "one-per-zone"] = "single"
    """NAT gateways through which nodes in private subnets reach the internet. `single` creates one
    in the first zone: it costs less, but if that zone fails, no zone reaches the internet. `none`
    requires interface endpoints."""
    gateway_endpoints: tuple[GatewayService, ...] = ("s3", "dynamodb")
    """Gateway endpoints of the VPC. They are free of charge."""
    interface_endpoints: tuple[EndpointService, ...] = ()
    """Services that private subnets reach through interface endpoints, without internet access,
    such as `ecr.dkr`."""
    flow_logs: bool = False
    """Whether to send VPC flow logs to CloudWatch Logs, which keeps them for seven days."""
    adopt: AdoptedVpc | None = None
    """An existing VPC, which the stack imports instead of creating one. The other keys must
    describe it. Keep it after the import."""


class StackNetwork(StrictModel):
    """The network of another stack of this program, one of `kind: network`."""

    kind: Literal["stack-reference"]
    """The network of another stack."""
    stack: StackName
    """Name of the stack, or `organization/project/stack`. The stack must be deployed."""


Network = Annotated[ExistingVpc | NewVpc | StackNetwork, Field(discriminator="kind")]
PlacedNetwork = ExistingVpc | NewVpc
"""A network that plans accept: its subnets are known, or the stack creates them."""


def existing_vpc_id(network: Network) -> str | None:
    """Return the VPC of a network that exists before the stack, or None for another one."""
    if isinstance(network, NewVpc):
        return network.adopt.vpc_id if network.adopt else None
    return network.vpc_id if isinstance(network, ExistingVpc) else None


def unread_network(reference: StackNetwork) -> ExistingVpc:
    """Return a placeholder for the network of another stack whose outputs cannot be read.

    It has one subnet of each kind. Its ids are not AWS ids, but texts for users.
    """
    return ExistingVpc.model_construct(
        kind="existing-vpc",
        vpc_id=f"the VPC of {reference.stack}",
        public_subnet_ids=(f"the public subnet of {reference.stack}",),
        private_subnet_ids=(f"the private subnet of {reference.stack}",),
    )
