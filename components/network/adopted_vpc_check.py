"""Account checks of a VPC that the stack adopts: it is what the stack file says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.components.account.check import Check, Subject
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.config.network import AdoptedVpc, ExistingVpc, NewVpc
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.facts import LayoutSubnet, VpcLayout
from trainyard.components.network.lookup import LAYOUT_CALLS
from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan, plan_network
from trainyard.components.tagging import CLUSTER_TAG

NETWORK = f"{ROOT}.network"
_EXISTING = (
    "set the key to what the VPC has; if the keys cannot describe it, use it without owning it "
    "(network.kind: existing-vpc)"
)
_KIND = "public zonal"


def difference(
    key: str, problem: str, *, found: object, allowed: str | None = None, remedy: str = _EXISTING
) -> Problem:
    """Return the problem of a key of the network that is not what the VPC has."""
    return Problem(
        path=f"{NETWORK}.{key}", problem=problem, found=found, allowed=allowed, remedy=remedy
    )


def routing_differences(
    network: NewVpc, plan: NetworkPlan, wanted: AdoptedVpc, found: VpcLayout, *, own: str
) -> Iterator[Problem]:
    """Yield differences of routes, NAT gateways and endpoints; `own` is the name of the stack."""
    gateway, table = wanted.internet_gateway_id, wanted.public_route_table_id
    # The plan refuses ids that are missing.
    if table is not None and gateway is not None:
        yield from _route_problems("adopt.public_route_table_id", table, gateway, found)
    yield from _private_route_problems(plan, wanted, found)
    yield from _nat_problems(wanted, found)
    yield from _endpoint_problems(network, wanted, found, own)


def _route_problems(key: str, table: str, target: str, found: VpcLayout) -> Iterator[Problem]:
    """Yield a problem if a route table is missing, or does not lead to a target."""
    if table not in found.tables:
        yield _no_table(key, table, found)
    elif found.tables[table].default_route != target:
        yield difference(
            key,
            f"has a route for 0.0.0.0/0 that does not lead to {target}",
            found=f"{table}, to {found.tables[table].default_route or 'nowhere'}",
            allowed=f"a route to {target}",
        )


def _private_route_problems(
    plan: NetworkPlan, wanted: AdoptedVpc, found: VpcLayout
) -> Iterator[Problem]:
    nat_gateways = {f"public-{zone}": ids.nat_gateway_id for zone, ids in wanted.zones.items()}
    for subnet in plan.private_subnets:
        ids = wanted.zones.get(subnet.availability_zone or "")
        if ids is None:
            continue
        key = f"adopt.zones.{subnet.availability_zone}.private_route_table_id"
        through = plan.nat_gateway_of(subnet)
        target = nat_gateways.get(through or "")
        if target is not None:
            yield from _route_problems(key, ids.private_route_table_id, target, found)
        elif through is None:
            yield from _way_out_problems(key, ids.private_route_table_id, found)


def _way_out_problems(key: str, table: str, found: VpcLayout) -> Iterator[Problem]:
    """Yield a problem of a route table whose routes the stack does not have."""
    if table not in found.tables:
        yield _no_table(key, table, found)
    elif found.tables[table].default_route in found.internet_gateway_ids:
        yield difference(
            key,
            "leads to the internet gateway, so the subnet is public",
            found=table,
            allowed="a route table of a private subnet",
        )


def _no_table(key: str, table: str, found: VpcLayout) -> Problem:
    return difference(
        key, "is not a route table of the VPC", found=table, allowed=", ".join(found.tables)
    )


def _nat_problems(wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    for zone, ids in wanted.zones.items():
        if ids.nat_gateway_id is None:
            continue
        key = f"adopt.zones.{zone}.nat_gateway_id"
        nat = found.nat_gateways.get(ids.nat_gateway_id)
        if nat is None:
            yield difference(
                key,
                "is not a NAT gateway of the VPC",
                found=ids.nat_gateway_id,
                allowed=", ".join(found.nat_gateways) or "the VPC has none",
            )
            continue
        compared = {
            "kind": (nat.kind, _KIND),
            "state": (nat.state, "available"),
            "subnet": (nat.subnet_id, ids.public_subnet_id),
            "list of addresses": (", ".join(nat.allocation_ids), ids.allocation_id),
        }
        for what, (theirs, ours) in compared.items():
            if theirs != ours:
                yield difference(
                    key,
                    f"has another {what} than a NAT gateway of the stack, so that `up` would "
                    "replace it",
                    found=f"{ids.nat_gateway_id}, {theirs or 'none'}",
                    allowed=ours,
                )


def _endpoint_problems(
    network: NewVpc, wanted: AdoptedVpc, found: VpcLayout, own: str
) -> Iterator[Problem]:
    """Yield endpoints that would be changed, and those that AWS does not create twice."""
    others = {
        identity: each
        for identity, each in found.endpoints.items()
        if each.tags.get(CLUSTER_TAG) != own
    }
    by_service = {(each.service, each.kind): identity for identity, each in others.items()}
    for service in network.gateway_endpoints:
        existing = by_service.get((service, "Gateway"))
        named = wanted.gateway_endpoint_ids.get(service)
        key = f"adopt.gateway_endpoint_ids.{service}"
        if named is None and existing is not None:
            yield difference(
                key,
                "is missing: a route table has one gateway endpoint for a service",
                found="none",
                allowed=existing,
                remedy=f"set it to {existing}",
            )
        elif named is not None:
            yield from _gateway_endpoint_problems(key, service, named, wanted, found, own)
    for index, service in enumerate(network.interface_endpoints):
        existing = by_service.get((service, "Interface"))
        if existing is not None:
            yield difference(
                f"interface_endpoints[{index}]",
                f"exists in the VPC ({existing}); a second one would have the same DNS names",
                found=service,
                remedy=(
                    "remove it from interface_endpoints; if the stack refuses to do without it, "
                    "use the VPC without owning it (network.kind: existing-vpc)"
                ),
            )


def _gateway_endpoint_problems(
    key: str, service: str, named: str, wanted: AdoptedVpc, found: VpcLayout, own: str
) -> Iterator[Problem]:
    endpoint = found.endpoints.get(named)
    if endpoint is None or (endpoint.service, endpoint.kind) != (service, "Gateway"):
        yield difference(key, f"is not a gateway endpoint of the VPC for {service}", found=named)
        return
    tables = _tables(wanted)
    added = {
        identity for identity, table in found.tables.items() if table.tags.get(CLUSTER_TAG) == own
    }
    if not tables <= endpoint.table_ids or not endpoint.table_ids <= tables | added:
        yield difference(
            key,
            "has routes in other route tables than those of the stack, which `up` would change",
            found=f"{named}, in {', '.join(sorted(endpoint.table_ids)) or 'none'}",
            allowed=", ".join(sorted(tables)),
        )


def _tables(wanted: AdoptedVpc) -> frozenset[str]:
    private = {zone.private_route_table_id for zone in wanted.zones.values()}
    public = {wanted.public_route_table_id} - {None}
    return frozenset(each for each in private | public if each is not None)


# Account checks of a VPC that the stack adopts: it is what the stack file says.
#
# The update imports the objects. A difference would change one of them, or replace it, which their
# protection prevents only halfway through the update.


def adopted_vpc_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield where the VPC of `network.adopt` is not what the stack file says."""
    network = config.network
    if not isinstance(network, NewVpc) or network.adopt is None:
        return
    if not all(facts.could_read(call) for call in LAYOUT_CALLS):
        return
    found = facts.adopted_vpc
    if found is None:
        yield difference(
            "adopt.vpc_id",
            "this VPC does not exist in this account and region",
            found=network.adopt.vpc_id,
            remedy="set the id of an existing VPC, or correct aws:region",
        )
        return
    yield from _owner_problems(config, found)
    yield from differences(network, found, own=config.name)


def adopted_vpc_subjects(network: NewVpc) -> Iterator[Subject]:
    """Yield what the checks of an adopted VPC ask."""
    if network.adopt is not None:
        asked = "exists, with everything that the stack file says, and nothing would be changed"
        yield Subject("network.adopt", asked, network.adopt.vpc_id, LAYOUT_CALLS)


def differences(network: NewVpc, found: VpcLayout, *, own: str) -> Iterator[Problem]:
    """Yield where a VPC is not what the keys of the network say.

    Args:
        network: The network, with `adopt`.
        found: The VPC in the account.
        own: Name of the stack, whose tag is on what the stack has added to the VPC.
    """
    wanted = network.adopt
    if wanted is None:
        return
    plan = plan_network(network, region="")
    yield from _vpc_problems(plan, wanted, found)
    yield from _gateway_problems(wanted, found)
    yield from _subnet_problems(plan, wanted, found)
    yield from routing_differences(network, plan, wanted, found, own=own)


def _owner_problems(config: StackConfig, found: VpcLayout) -> Iterator[Problem]:
    owner = found.tags.get(CLUSTER_TAG, config.name)
    if owner != config.name:
        yield difference(
            "adopt.vpc_id",
            "this VPC is part of another stack, which can change and delete it",
            found=f"{found.vpc_id}, of the stack {owner}",
            allowed="a VPC without an owner",
            remedy=(
                "use it without owning it (network.kind: existing-vpc, or stack-reference); if the "
                f"other stack no longer has it, remove its tag {CLUSTER_TAG}"
            ),
        )


def _vpc_problems(plan: NetworkPlan, wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    if plan.cidr != found.cidr:
        yield difference(
            "cidr",
            "is not the primary CIDR block of the VPC, which cannot be changed",
            found=plan.cidr,
            allowed=found.cidr,
        )
    pairs = zip(plan.secondary_cidrs, wanted.cidr_association_ids, strict=False)
    for index, (cidr, association) in enumerate(pairs):
        if found.secondary.get(cidr) != association:
            yield difference(
                f"adopt.cidr_association_ids[{index}]",
                f"is not the association of {cidr} with the VPC",
                found=association,
                allowed=found.secondary.get(cidr)
                or f"the VPC has {', '.join(found.secondary) or 'no secondary CIDR blocks'}",
            )
    for attribute, on in (
        ("enable-dns-support", found.dns_support),
        ("enable-dns-hostnames", found.dns_hostnames),
    ):
        if not on:
            yield difference(
                "adopt.vpc_id",
                f"{attribute} is disabled in the VPC, and enabled in the VPC of a stack",
                found=found.vpc_id,
                remedy=f"aws ec2 modify-vpc-attribute --vpc-id {found.vpc_id} --{attribute}",
            )


def _gateway_problems(wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    gateway = wanted.internet_gateway_id
    if gateway is not None and gateway not in found.internet_gateway_ids:
        yield difference(
            "adopt.internet_gateway_id",
            "is not attached to the VPC",
            found=gateway,
            allowed=", ".join(found.internet_gateway_ids) or "the VPC has none",
        )


def _subnet_problems(plan: NetworkPlan, wanted: AdoptedVpc, found: VpcLayout) -> Iterator[Problem]:
    for subnet in plan.subnets:
        ids = wanted.zones.get(subnet.availability_zone or "")
        if ids is None:
            continue
        kind = "public" if subnet.public else "private"
        key = f"adopt.zones.{subnet.availability_zone}.{kind}_subnet_id"
        given = ids.public_subnet_id if subnet.public else ids.private_subnet_id
        table = wanted.public_route_table_id if subnet.public else ids.private_route_table_id
        if given is None:
            continue
        if given not in found.subnets:
            yield difference(
                key,
                f"is not a subnet of {found.vpc_id} with an IPv4 block",
                found=given,
                allowed="subnets of the VPC with an IPv4 block",
            )
            continue
        for what, theirs, ours in _compared(subnet, found.subnets[given], table or ""):
            if ours != theirs:
                yield difference(
                    key,
                    f"has another {what} than the stack file says",
                    found=f"{given}, {theirs or 'the main one'}",
                    allowed=ours,
                )


def _compared(
    subnet: SubnetPlan, found: LayoutSubnet, table: str
) -> Iterator[tuple[str, str, str | None]]:
    """Yield what is compared: a noun, the value in the account, and the planned one."""
    zone = subnet.availability_zone
    yield "CIDR block", found.cidr, subnet.cidr
    yield "zone", found.zone_id if zone == found.zone_id else found.zone, zone
    yield "route table", found.table_id, table


def adopted_vpc_checks(known: Known[Any, Any]) -> Iterator[Check]:
    """Yield the check of the VPC that a stack adopts."""
    network = known.config.network
    if not isinstance(network, ExistingVpc):
        problems = adopted_vpc_problems(known.config, known.facts)
        yield Check("adopted VPC", problems, adopted_vpc_subjects(network))
