"""The objects of an existing VPC that becomes part of a stack."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.components.config.base import Form, StrictModel, SubnetId, VpcId, Zone, resource_id

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
    allocation_id: AllocationId | None = None
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
