"""Networks in an account, as plain records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from trainyard.components.network.network_plan import RESERVED_ADDRESSES

# A VPC that a stack adopts, with everything in it that the stack would create, as plain records.
#
# Sources, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/: API_Vpc.html, API_Subnet.html,
# API_RouteTable.html, API_NatGateway.html and API_VpcEndpoint.html.


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSubnet:
    """A subnet."""

    cidr: str
    zone: str
    """Name."""
    zone_id: str
    table_id: str
    """Route table that is associated with it; empty if it uses the main one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutTable:
    """A route table."""

    default_route: str
    """Id of the target of the route 0.0.0.0/0, such as `nat-…`; empty without one."""
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutNat:
    """A NAT gateway that is not deleted."""

    subnet_id: str
    state: str
    """EC2 value: `pending`, `available` …"""
    kind: str
    """`ConnectivityType` and `AvailabilityMode`, such as `public zonal`."""
    allocation_ids: tuple[str, ...]
    """Its public addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutEndpoint:
    """An endpoint."""

    service: str
    """Last part of the service name, such as `s3`."""
    kind: str
    """EC2 value: `Gateway`, `Interface` …"""
    table_ids: frozenset[str]
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcLayout:
    """A VPC and what is in it, by id."""

    vpc_id: str
    cidr: str
    secondary: Mapping[str, str]
    """Ids of the associations of secondary CIDR blocks, by block."""
    dns_support: bool
    dns_hostnames: bool
    tags: Mapping[str, str]
    internet_gateway_ids: tuple[str, ...]
    subnets: Mapping[str, LayoutSubnet]
    tables: Mapping[str, LayoutTable]
    nat_gateways: Mapping[str, LayoutNat]
    endpoints: Mapping[str, LayoutEndpoint]


DefaultRoute = Literal["internet-gateway", "nat", "other", "none"]
"""Target of the route 0.0.0.0/0 of a subnet: `nat` is a NAT gateway or instance, `other` a transit
gateway, a firewall or similar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFacts:
    """A zone that is enabled in the account."""

    name: str
    """Such as `us-west-2b`; maps to different zones in different accounts."""
    zone_id: str
    """Such as `usw2-az2`."""
    kind: str
    """EC2 value: `availability-zone`, `local-zone` or `wavelength-zone`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFacts:
    """An existing VPC."""

    vpc_id: str
    dns_support: bool
    dns_hostnames: bool
    endpoint_services: frozenset[str]
    """Last parts of the service names of its endpoints, such as `ecr.dkr`."""
    tenancy: str = "default"
    """`InstanceTenancy`: `default` or `dedicated`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetFacts:
    """An existing subnet."""

    subnet_id: str
    vpc_id: str
    availability_zone: str
    zone_id: str
    cidr: IPv4Network
    free_addresses: int
    default_route: DefaultRoute
    maps_public_addresses: bool = True
    """`MapPublicIpOnLaunch`."""
    state: str = "available"
    """EC2 value: `pending`, `available`, `unavailable`, `failed` …"""
    outpost_arn: str = ""
    """Outpost that it is on; empty for one in the region."""
    gateway_block: str = "off"
    """What VPC Block Public Access blocks: `off`, `block-ingress` or `block-bidirectional`."""

    @property
    def usable_addresses(self) -> int:
        """Number of assignable addresses."""
        return self.cidr.num_addresses - RESERVED_ADDRESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class IngressFacts:
    """One ingress or egress rule of a security group."""

    protocol: str
    """`tcp`, or `-1` for all."""
    first_port: int
    last_port: int
    cidr: str | None
    """IPv4 CIDR block, or None for a rule with a security group or prefix list."""
    peer_group_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultGroupFacts:
    """The default security group of a VPC."""

    group_id: str
    lets_in: tuple[IngressFacts, ...]
    lets_out: tuple[IngressFacts, ...]
