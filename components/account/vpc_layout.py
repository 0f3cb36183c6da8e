"""A VPC that a stack adopts, with everything in it that the stack would create, as plain records.

Sources, https://docs.aws.amazon.com/AWSEC2/latest/APIReference/: API_Vpc.html, API_Subnet.html,
API_RouteTable.html, API_NatGateway.html and API_VpcEndpoint.html.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


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
