"""The imports of an existing VPC, from the ids in the stack file.

Import ids: https://www.pulumi.com/registry/packages/aws/api-docs/ec2/, section "Import" of each
resource. Those of routes and of associations of route tables follow from other ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.config.adopted_vpc import AdoptedVpc, AdoptedZone
from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan, VpcAdoption

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
