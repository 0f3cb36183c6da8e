"""The network that a cluster lives in: one that exists, or a new one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.config.base import Ipv4Cidr, StrictModel, SubnetId, VpcId, Zone


class ExistingVpc(StrictModel):
    """A VPC that exists already; the program adopts it by id and never changes it."""

    kind: Literal["existing-vpc"]
    """An existing VPC."""
    vpc_id: VpcId
    """The VPC. Changing it replaces the cluster."""
    public_subnet_ids: Annotated[tuple[SubnetId, ...], Field(min_length=1)]
    """Subnets with a route to an internet gateway; the control plane and load balancers use them.
    Together with the private subnets they must lie in at least two zones."""
    private_subnet_ids: Annotated[tuple[SubnetId, ...], Field(min_length=1)]
    """Subnets with a route to a NAT gateway; nodes run here. A reservation needs one in its zone.
    """


class NewVpc(StrictModel):
    """A VPC that the stack makes for itself."""

    kind: Literal["new-vpc"]
    """A new VPC."""
    cidr: Ipv4Cidr = "10.0.0.0/16"
    """Addresses of the VPC."""
    availability_zones: Annotated[tuple[Zone, ...], Field(min_length=1)]
    """Zones by name or zone id; one public and one private subnet are made in each."""
    nat_gateways: Literal["none", "single", "one-per-zone"] = "single"
    """How nodes in private subnets reach the internet."""
    gateway_endpoints: tuple[Literal["s3", "dynamodb"], ...] = ("s3",)
    """Gateway endpoints of the VPC; they cost nothing."""
    interface_endpoints: tuple[str, ...] = ()
    """Services reached through interface endpoints, such as `ecr.dkr`."""
    flow_logs: bool = False
    """Whether traffic is logged to CloudWatch."""


Network = Annotated[ExistingVpc | NewVpc, Field(discriminator="kind")]
