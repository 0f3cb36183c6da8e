"""Facts about an AWS account, as plain records: what the checks need, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from ipaddress import IPv4Network
from typing import Literal

DefaultRoute = Literal["internet-gateway", "nat", "other", "none"]
"""Where a subnet sends 0.0.0.0/0: `nat` is a NAT gateway or instance, `other` a transit gateway,
a firewall or the like."""

RESERVED_ADDRESSES = 5
"""Addresses AWS keeps in every subnet.

https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class VpcFacts:
    """A VPC that exists."""

    vpc_id: str
    dns_support: bool
    dns_hostnames: bool
    endpoint_services: frozenset[str]
    """Last parts of the names of services that have an endpoint here, such as `ecr.dkr`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetFacts:
    """A subnet that exists."""

    subnet_id: str
    vpc_id: str
    availability_zone: str
    zone_id: str
    cidr: IPv4Network
    free_addresses: int
    default_route: DefaultRoute

    @property
    def usable_addresses(self) -> int:
        """Addresses that interfaces can ever take here."""
        return self.cidr.num_addresses - RESERVED_ADDRESSES


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationFacts:
    """A capacity reservation that exists: an ODCR or a Capacity Block."""

    reservation_id: str
    kind: Literal["odcr", "capacity-block"]
    """`ReservationType`: `default` is an ODCR."""
    instance_type: str
    availability_zone: str
    zone_id: str
    state: str
    """`CapacityReservationState` as EC2 spells it: `active`, `scheduled`, `expired` …"""
    instance_count: int
    """`TotalInstanceCount`."""
    owner_id: str
    platform: str
    placement_group: str | None
    """Name of the group it was made in."""
    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """What could be read of an account. An id that is asked for and missing does not exist."""

    account_id: str
    vpc: VpcFacts | None
    subnets: Mapping[str, SubnetFacts] = field(default_factory=dict[str, SubnetFacts])
    """By subnet id."""
    reservations: Mapping[str, ReservationFacts] = field(
        default_factory=dict[str, ReservationFacts]
    )
    """By reservation id."""
    key_pairs: frozenset[str] = frozenset()
    offered_zone_ids: Mapping[str, frozenset[str]] = field(
        default_factory=dict[str, frozenset[str]]
    )
    """Zone ids of the region that offer an instance type, by type."""
    unreadable: tuple[str, ...] = ()
    """Calls that the caller may not make, each with AWS's reason; what they would have said is
    not checked."""

    def could_read(self, call: str) -> bool:
        """Whether an answer to `call` (`ec2:DescribeSubnets`) is in these facts."""
        return not any(line.startswith(call) for line in self.unreadable)
