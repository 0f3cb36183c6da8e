"""The network that a cluster lives in: one that exists, or a new one."""

from typing import Annotated, Literal

from pydantic import Field

from components.config.base import Form, Ipv4Cidr, StrictModel, SubnetId, VpcId, Zone

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
"""Last part of the name of a service with interface endpoints that clusters use.

https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
"""


class ExistingVpc(StrictModel):
    """A VPC that exists already; the program adopts it by id and never changes it."""

    kind: Literal["existing-vpc"]
    """An existing VPC."""
    vpc_id: VpcId
    """The VPC. Changing it replaces the cluster."""
    public_subnet_ids: tuple[SubnetId, ...]
    """Subnets with a route to an internet gateway, `[]` where the VPC has none; the control plane
    and load balancers use them. EKS needs two zones among all subnets."""
    private_subnet_ids: Annotated[tuple[SubnetId, ...], Field(min_length=1)]
    """Subnets with a route to a NAT gateway; nodes run here. A reservation needs one in its zone.
    """

    @property
    def is_unread(self) -> bool:
        """Whether this stands for the network of another stack whose outputs nobody read."""
        return not self.vpc_id.startswith("vpc-")


class NewVpc(StrictModel):
    """A VPC that the stack makes for itself, with a private subnet in each zone."""

    kind: Literal["new-vpc"]
    """A new VPC."""
    availability_zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones by name or zone id; EKS needs two. Add further ones at the end: the order decides who
    gets which addresses."""
    addresses: Literal["eksctl", "vpc-multi-az", "vpc-one-az"] = "eksctl"
    """Which addresses the subnets get. `eksctl`: an eighth of the VPC each (192.168.0.0/16, /19),
    for up to four zones. `vpc-multi-az` and `vpc-one-az`: those of the CloudFormation templates of
    these names, 10.0.0.0/16 for public subnets and further networks for private ones."""
    public_subnets: bool = True
    """Whether each zone has a public subnet too, with a way to the internet. Without them the VPC
    has no internet gateway, and `nat_gateways` must be `none`."""
    cidr: Ipv4Cidr | None = None
    """Addresses of the VPC, between /16 and /28; without it those of `addresses`."""
    secondary_cidrs: tuple[Ipv4Cidr, ...] = ()
    """Further networks of the VPC, for subnets that are given below."""
    public_subnet_cidrs: tuple[Ipv4Cidr, ...] = ()
    """Addresses of the public subnets, one for each zone, instead of those of `addresses`."""
    private_subnet_cidrs: tuple[Ipv4Cidr, ...] = ()
    """Addresses of the private subnets, one for each zone, instead of those of `addresses`."""
    nat_gateways: Literal["none", "single", "one-per-zone"] = "single"
    """How nodes in private subnets reach the internet. `single` stands in the first zone: cheaper,
    and without it no zone gets out. `none` needs interface endpoints."""
    gateway_endpoints: tuple[Literal["s3", "dynamodb"], ...] = ("s3", "dynamodb")
    """Gateway endpoints of the VPC; they cost nothing."""
    interface_endpoints: tuple[EndpointService, ...] = ()
    """Services that the private subnets reach without the internet, such as `ecr.dkr`."""
    flow_logs: bool = False
    """Whether CloudWatch gets a record of the traffic, kept for seven days."""


class StackNetwork(StrictModel):
    """The network of another stack of this program, one of `kind: network`."""

    kind: Literal["stack-reference"]
    """The network of another stack."""
    stack: StackName
    """The stack: its name, or `organization/project/stack`. It must be up."""


Network = Annotated[ExistingVpc | NewVpc | StackNetwork, Field(discriminator="kind")]
PlacedNetwork = ExistingVpc | NewVpc
"""A network whose subnets are known, or will be: what plans are made of."""


def unread_network(reference: StackNetwork) -> ExistingVpc:
    """Return what stands for the network of another stack where nobody can read its outputs.

    The ids are no ids, but words for people; with one subnet of each kind.
    """
    return ExistingVpc.model_construct(
        kind="existing-vpc",
        vpc_id=f"the VPC of {reference.stack}",
        public_subnet_ids=(f"the public subnet of {reference.stack}",),
        private_subnet_ids=(f"the private subnet of {reference.stack}",),
    )
