"""Addresses of the subnets of a new VPC.

The addresses of a zone depend only on its position in the list. Appending a zone therefore keeps
all other subnets: a subnet with other addresses would be replaced, with all its nodes.

Sources:
    https://github.com/eksctl-io/eksctl, `pkg/vpc/vpc.go`, `SetSubnets`: the VPC in eight parts,
    public subnets first. Two zones get the same parts as in eksctl; from the third zone on, eksctl
    would move the private subnets.
    https://github.com/awslabs/awsome-distributed-training, `1.architectures/1.vpc_network`: the
    templates `1.vpc-multi-az.yaml` and `2.vpc-one-az.yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from trainyard.components.config.network import NewVpc

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
