"""The plan of a stack's network, existing, adopted or new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Network
from itertools import zip_longest

from trainyard.components.config.network import (
    AdoptedVpc,
    AdoptedZone,
    ExistingVpc,
    NewVpc,
    PlacedNetwork,
)
from trainyard.components.config.problems import Review


def nat_gateway_command(network: NewVpc, review: Review) -> str:
    """Return the command that adds a NAT gateway, which needs a public subnet."""
    command = review.set_command("network.nat_gateways", "single")
    if network.public_subnets:
        return command
    return f"{review.set_command('network.public_subnets', 'true')}; {command}"


# Addresses of the subnets of a new VPC.
#
# The addresses of a zone depend only on its position in the list. Appending a zone therefore keeps
# all other subnets: a subnet with other addresses would be replaced, with all its nodes.
#
# Sources:
#     https://github.com/eksctl-io/eksctl, `pkg/vpc/vpc.go`, `SetSubnets`: the VPC in eight
#     parts, public subnets first. Two zones get the same parts as in eksctl; from the third zone
#     on, eksctl would move the private subnets.
#     https://github.com/awslabs/awsome-distributed-training, `1.architectures/1.vpc_network`:
#     the templates `1.vpc-multi-az.yaml` and `2.vpc-one-az.yaml`.


EKSCTL_CIDR = "192.168.0.0/16"
EKSCTL_PARTS = 8
TEMPLATE_CIDR = "10.0.0.0/16"
TEMPLATE_SECONDARY_CIDRS = ("10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16")
ZONES_IN_A_SECONDARY_CIDR = 2
MULTI_AZ_PUBLIC = (
    "10.0.0.0/24",
    "10.0.1.0/24",
    "10.0.10.0/24",
    "10.0.11.0/24",
    "10.0.20.0/24",
    "10.0.21.0/24",
)
ONE_AZ_PUBLIC = ("10.0.0.0/17",)
ONE_AZ_PRIVATE = ("10.1.0.0/17",)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressPlan:
    """CIDR blocks of a VPC and its subnets; fewer than zones if the VPC is too small."""

    cidr: str
    secondary_cidrs: tuple[str, ...]
    public: tuple[str, ...]
    """One for each zone, in the order of the stack file."""
    private: tuple[str, ...]

    @property
    def blocks(self) -> tuple[str, ...]:
        """All CIDR blocks of the VPC."""
        return (self.cidr, *self.secondary_cidrs)


def plan_addresses(network: NewVpc) -> AddressPlan:
    """Return the addresses of a new VPC, from the stack file or by default."""
    zones = len(network.availability_zones)
    if network.addresses == "eksctl":
        layout = _eksctl(network.cidr or EKSCTL_CIDR)
    else:
        layout = _template(network, zones)
    own = network.private_subnet_cidrs
    public = network.public_subnet_cidrs or layout.public[:zones]
    secondary = (
        network.secondary_cidrs if own else (*layout.secondary_cidrs, *network.secondary_cidrs)
    )
    return AddressPlan(
        cidr=layout.cidr,
        secondary_cidrs=tuple(dict.fromkeys(secondary)),
        public=public if network.public_subnets else (),
        private=own or layout.private[:zones],
    )


def gives_all_addresses(network: NewVpc) -> bool:
    """Return whether the stack file sets the addresses of every subnet."""
    public = network.public_subnet_cidrs or not network.public_subnets
    return bool(public and network.private_subnet_cidrs)


def most_zones(network: NewVpc) -> int | None:
    """Return the maximum number of zones; None if the stack file sets all addresses."""
    if gives_all_addresses(network):
        return None
    if network.addresses == "eksctl":
        return EKSCTL_PARTS // 2
    return len(ONE_AZ_PUBLIC if network.addresses == "vpc-one-az" else MULTI_AZ_PUBLIC)


def _eksctl(cidr: str) -> AddressPlan:
    whole = IPv4Network(cidr)
    if whole.prefixlen > whole.max_prefixlen - 3:
        return AddressPlan(cidr=cidr, secondary_cidrs=(), public=(), private=())
    parts = [str(part) for part in whole.subnets(prefixlen_diff=3)]
    # Public, public, private, private for the first two zones; then a pair for each further zone.
    return AddressPlan(
        cidr=cidr,
        secondary_cidrs=(),
        public=tuple(parts[i] for i in (0, 1, 4, 6)),
        private=tuple(parts[i] for i in (2, 3, 5, 7)),
    )


def _template(network: NewVpc, zones: int) -> AddressPlan:
    if network.addresses == "vpc-one-az":
        return AddressPlan(
            cidr=network.cidr or TEMPLATE_CIDR,
            secondary_cidrs=TEMPLATE_SECONDARY_CIDRS[:1],
            public=ONE_AZ_PUBLIC,
            private=ONE_AZ_PRIVATE,
        )
    blocks = TEMPLATE_SECONDARY_CIDRS[: -(-zones // ZONES_IN_A_SECONDARY_CIDR)]
    return AddressPlan(
        cidr=network.cidr or TEMPLATE_CIDR,
        secondary_cidrs=blocks,
        public=MULTI_AZ_PUBLIC,
        private=tuple(_halves(TEMPLATE_SECONDARY_CIDRS)),
    )


def _halves(blocks: Sequence[str]) -> list[str]:
    return [str(half) for block in blocks for half in IPv4Network(block).subnets()]


# The plan of a stack's network, existing or new.
#
# Plans name a subnet by its reference (`SubnetPlan.name`). For an existing subnet this is its id.
# `ClusterNetwork` in `trainyard.components.network.cluster_network` maps the reference of a new
# subnet to its resource.


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


# The imports of an existing VPC, from the ids in the stack file.
#
# Import ids: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/, section "Import" of each
# resource. Those of routes and of associations of route tables follow from other ids.


ANYWHERE_IPV4 = "0.0.0.0/0"


def plan_adoption(wanted: AdoptedVpc, planned: NetworkPlan) -> VpcAdoption:
    """Return what the component imports of an existing VPC.

    Args:
        wanted: The ids in the stack file.
        planned: The plan of the VPC as a new one.
    """
    shared = _shared_tables(wanted, planned)
    services = {service.rpartition(".")[2]: service for service in planned.gateway_endpoints}
    return VpcAdoption(
        parts={
            part: identity
            for part, identity in (
                *_shared_parts(wanted, planned),
                *_public_parts(wanted, planned),
                *_private_parts(wanted, planned, shared),
            )
            if identity is not None
        },
        endpoints={
            services[name]: identity
            for name, identity in wanted.gateway_endpoint_ids.items()
            if name in services
        },
        shared_tables=shared,
    )


def _shared_parts(wanted: AdoptedVpc, planned: NetworkPlan) -> Iterator[tuple[str, str | None]]:
    yield "vpc", wanted.vpc_id
    for cidr, association in zip(
        planned.secondary_cidrs, wanted.cidr_association_ids, strict=False
    ):
        yield f"cidr-{cidr.replace('/', '-')}", association
    yield "internet", wanted.internet_gateway_id
    yield "public-routes", wanted.public_route_table_id
    yield "public-default", _default_route(wanted.public_route_table_id)


def _public_parts(wanted: AdoptedVpc, planned: NetworkPlan) -> Iterator[tuple[str, str | None]]:
    for subnet, zone in _adopted(wanted, planned.public_subnets):
        yield from _subnet(subnet, zone.public_subnet_id, wanted.public_route_table_id)
        yield f"{subnet.availability_zone}-nat", zone.nat_gateway_id
        yield f"{subnet.availability_zone}-address", zone.allocation_id


def _private_parts(
    wanted: AdoptedVpc, planned: NetworkPlan, shared: Mapping[str, str]
) -> Iterator[tuple[str, str | None]]:
    for subnet, zone in _adopted(wanted, planned.private_subnets):
        table = zone.private_route_table_id
        yield from _subnet(subnet, zone.private_subnet_id, table)
        if subnet.name not in shared:
            yield f"{subnet.name}-routes", table
            if planned.nat_gateways:
                yield f"{subnet.name}-default", _default_route(table)


def _subnet(
    subnet: SubnetPlan, subnet_id: str | None, table: str | None
) -> Iterator[tuple[str, str | None]]:
    yield subnet.name, subnet_id
    yield f"{subnet.name}-association", f"{subnet_id}/{table}" if subnet_id and table else None


def _default_route(table: str | None) -> str | None:
    return f"{table}_{ANYWHERE_IPV4}" if table else None


def _shared_tables(wanted: AdoptedVpc, planned: NetworkPlan) -> dict[str, str]:
    first: dict[str, str] = {}
    shared: dict[str, str] = {}
    for subnet, zone in _adopted(wanted, planned.private_subnets):
        owner = first.setdefault(zone.private_route_table_id, subnet.name)
        if owner != subnet.name:
            shared[subnet.name] = owner
    return shared


def _adopted(
    wanted: AdoptedVpc, subnets: tuple[SubnetPlan, ...]
) -> Iterator[tuple[SubnetPlan, AdoptedZone]]:
    """Yield the subnets in adopted zones."""
    for subnet in subnets:
        zone = wanted.zones.get(subnet.availability_zone or "")
        if zone is not None:
            yield subnet, zone


NO_TAGS: Mapping[str, str] = {}


def plan_network(
    network: PlacedNetwork,
    *,
    region: str,
    public_subnet_tags: Mapping[str, str] = NO_TAGS,
    private_subnet_tags: Mapping[str, str] = NO_TAGS,
) -> NetworkPlan:
    """Return the plan of a network, existing or new.

    The tags are for new subnets. If a new VPC has too few addresses, the plan has subnets without
    addresses; `review_new_vpc` refuses it.
    """
    if isinstance(network, ExistingVpc):
        return existing_network(
            network.vpc_id,
            public_subnet_ids=network.public_subnet_ids,
            private_subnet_ids=network.private_subnet_ids,
        )
    addresses = plan_addresses(network)
    public = _subnets(network, addresses.public, public=True) if network.public_subnets else ()
    planned = NetworkPlan(
        cidr=addresses.cidr,
        secondary_cidrs=addresses.secondary_cidrs,
        public_subnets=public,
        private_subnets=_subnets(network, addresses.private, public=False),
        public_subnet_tags=public_subnet_tags,
        private_subnet_tags=private_subnet_tags,
        nat_gateways=_nat_gateways(network, public),
        gateway_endpoints=_services(network.gateway_endpoints, region),
        interface_endpoints=_services(network.interface_endpoints, region),
        flow_logs=network.flow_logs,
    )
    if network.adopt is None:
        return planned
    return replace(planned, adoption=plan_adoption(network.adopt, planned))


def _subnets(network: NewVpc, cidrs: tuple[str, ...], *, public: bool) -> tuple[SubnetPlan, ...]:
    # Named by zone: a numbered name would change its zone with the order of the list.
    kind = "public" if public else "private"
    zones = network.availability_zones
    return tuple(
        SubnetPlan(name=f"{kind}-{zone}", availability_zone=zone, cidr=cidr, public=public)
        for zone, cidr in zip_longest(zones, cidrs[: len(zones)])
    )


def _nat_gateways(network: NewVpc, public: tuple[SubnetPlan, ...]) -> tuple[str, ...]:
    names = tuple(subnet.name for subnet in public)
    return {"none": (), "single": names[:1], "one-per-zone": names}[network.nat_gateways]


def _services(names: tuple[str, ...], region: str) -> tuple[str, ...]:
    # https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
    return tuple(f"com.amazonaws.{region}.{name}" for name in dict.fromkeys(names))
