"""The plan of a network in the stack file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest

from trainyard.components.config.network import ExistingVpc, NewVpc, PlacedNetwork
from trainyard.components.network.address_plan import plan_addresses
from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan, existing_network
from trainyard.components.network.vpc_adoption import plan_adoption

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
