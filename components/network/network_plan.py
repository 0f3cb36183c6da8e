"""The plan of a stack's network, existing or new.

Plans name a subnet by its reference (`SubnetPlan.name`). For an existing subnet this is its id.
`ClusterNetwork` in `trainyard.components.network.cluster_network` maps the reference of a new
subnet to its resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network

RESERVED_ADDRESSES = 5
"""Addresses that AWS reserves in every subnet.

https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetPlan:
    """An existing or new subnet."""

    name: str
    """Reference in plans; the id of an existing subnet."""
    subnet_id: str | None = None
    """None for a new subnet."""
    availability_zone: str | None = None
    """Zone name or zone id, as in the stack file; None if only the account knows it."""
    cidr: str | None = None
    """None if only the account knows it."""
    public: bool
    """Whether its default route is an internet gateway."""

    @property
    def usable_addresses(self) -> int | None:
        """Number of assignable addresses; None if only the account knows it."""
        return IPv4Network(self.cidr).num_addresses - RESERVED_ADDRESSES if self.cidr else None


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcAdoption:
    """The objects of an existing VPC that the component imports instead of creating them."""

    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Import ids of the resources of `Vpc`, by their logical names without that of the VPC."""
    endpoints: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ids of gateway endpoints, by the full names of their services."""
    shared_tables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Private subnets without a route table of their own, each with the one whose it uses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """A VPC with its subnets and, if new, its NAT gateways and endpoints."""

    vpc_id: str | None = None
    """None for a new VPC."""
    cidr: str | None = None
    """None if only the account knows it."""
    secondary_cidrs: tuple[str, ...] = ()
    public_subnets: tuple[SubnetPlan, ...]
    private_subnets: tuple[SubnetPlan, ...]
    """In a new VPC: one for each zone, in the order of the public ones."""
    public_subnet_tags: Mapping[str, str] = field(default_factory=dict[str, str])
    private_subnet_tags: Mapping[str, str] = field(default_factory=dict[str, str])
    nat_gateways: tuple[str, ...] = ()
    """References of the public subnets with a NAT gateway: none, the first, or all."""
    gateway_endpoints: tuple[str, ...] = ()
    """Full names of services, such as `com.amazonaws.us-west-2.s3`."""
    interface_endpoints: tuple[str, ...] = ()
    """Full names of services, such as `com.amazonaws.us-west-2.ecr.dkr`."""
    flow_logs: bool = False
    adoption: VpcAdoption = field(default_factory=VpcAdoption)
    """Empty unless the stack adopts the VPC."""

    @property
    def is_new(self) -> bool:
        """Whether the stack creates the VPC or adopts it."""
        return self.vpc_id is None

    @property
    def exists(self) -> bool:
        """Whether the VPC exists before the stack: it is existing, or adopted."""
        return self.vpc_id is not None or "vpc" in self.adoption.parts

    @property
    def subnets(self) -> tuple[SubnetPlan, ...]:
        """Every subnet, public ones first."""
        return (*self.public_subnets, *self.private_subnets)

    @property
    def availability_zones(self) -> tuple[str, ...]:
        """Known zones of the private subnets, as in the stack file."""
        return tuple(s.availability_zone for s in self.private_subnets if s.availability_zone)

    @property
    def blocks(self) -> tuple[str, ...]:
        """All CIDR blocks of a new VPC."""
        return (self.cidr, *self.secondary_cidrs) if self.cidr else ()

    @property
    def private_names(self) -> tuple[str, ...]:
        """References of the private subnets, where nodes run."""
        return tuple(subnet.name for subnet in self.private_subnets)

    def nat_gateway_of(self, private: SubnetPlan) -> str | None:
        """Return the public subnet whose NAT gateway a private subnet uses, if any."""
        if not self.nat_gateways:
            return None
        own = self.public_subnets[self.private_subnets.index(private)].name
        return own if own in self.nat_gateways else self.nat_gateways[0]

    def subnet(self, reference: str) -> SubnetPlan:
        """Return a subnet by its reference.

        Raises:
            KeyError: the plan has no such subnet.
        """
        for subnet in self.subnets:
            if subnet.name == reference:
                return subnet
        raise KeyError(reference)


def existing_network(
    vpc_id: str, *, public_subnet_ids: tuple[str, ...], private_subnet_ids: tuple[str, ...]
) -> NetworkPlan:
    """Return the plan of an existing VPC."""
    return NetworkPlan(
        vpc_id=vpc_id,
        public_subnets=tuple(_existing(i, public=True) for i in public_subnet_ids),
        private_subnets=tuple(_existing(i, public=False) for i in private_subnet_ids),
    )


def _existing(subnet_id: str, *, public: bool) -> SubnetPlan:
    return SubnetPlan(name=subnet_id, subnet_id=subnet_id, public=public)
