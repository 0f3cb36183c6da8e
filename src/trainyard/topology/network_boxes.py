"""The box of a VPC: zones, subnets, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.components.network.network_plan import NetworkPlan, SubnetPlan
from trainyard.topology.box import Box, Occupant, Row

VPC, SUBNET = "trainyard:network:Vpc", "aws:ec2/subnet:Subnet"


def vpc_box(network: NetworkPlan, occupants: Sequence[Occupant], *, name: str, source: str) -> Box:
    """Return the box of a VPC.

    Args:
        network: Its plan; zones and address ranges of an existing VPC can be unknown.
        occupants: What is in its subnets.
        name: Name of the stack.
        source: Name of the stack whose network it is; empty if it is in the stack file.
    """
    return Box(
        kind="vpc",
        title=network.vpc_id or f"{name}-network",
        caption="VPC",
        lines=tuple(_vpc_lines(network, source)),
        outside=not network.is_new,
        rows=tuple(row for row in _rows(network, occupants, name) if row.boxes),
        resource=f"{VPC}::{name}-network" if network.is_new else "",
    )


def _vpc_lines(network: NetworkPlan, source: str) -> Iterator[str]:
    if network.blocks:
        yield ", ".join(network.blocks)
    if source:
        yield f"of the stack {source}"


def _rows(network: NetworkPlan, occupants: Sequence[Occupant], name: str) -> Iterator[Row]:
    yield Row(boxes=tuple(_services(network)))
    zones = list(dict.fromkeys(each.availability_zone for each in network.subnets))
    if None in zones:
        # Without the account, the zones of the subnets are unknown.
        subnets = tuple(_subnet(each, network, occupants, name) for each in network.subnets)
        yield Row(boxes=tuple(box for box in subnets if box.kind == "public-subnet"))
        yield Row(boxes=tuple(box for box in subnets if box.kind != "public-subnet"))
    else:
        boxes = (_zone(str(zone), network, occupants, name) for zone in zones)
        yield Row(boxes=tuple(boxes), wraps=False)
    yield from _spanning(network, occupants)


def _services(network: NetworkPlan) -> Iterator[Box]:
    if network.is_new and network.public_subnets:
        yield Box(kind="network", title="Internet gateway")
    for kind, services in (
        ("Gateway endpoints", network.gateway_endpoints),
        ("Interface endpoints", network.interface_endpoints),
    ):
        if services:
            # The names begin with `com.amazonaws.REGION.`.
            names = ", ".join(each.split(".", 3)[-1] for each in services)
            yield Box(kind="network", title=kind, lines=(names,))
    if network.flow_logs:
        yield Box(kind="network", title="Flow logs", lines=("to CloudWatch Logs",))


def _zone(zone: str, network: NetworkPlan, occupants: Sequence[Occupant], name: str) -> Box:
    subnets = [each for each in network.subnets if each.availability_zone == zone]
    boxes = (_subnet(each, network, occupants, name) for each in subnets)
    return Box(
        kind="zone",
        title=zone,
        caption="Availability Zone",
        outside=True,
        rows=tuple(Row(boxes=(box,)) for box in boxes),
    )


def _subnet(
    subnet: SubnetPlan, network: NetworkPlan, occupants: Sequence[Occupant], name: str
) -> Box:
    inside = [each.box for each in occupants if each.subnets == (subnet.name,)]
    if subnet.name in network.nat_gateways:
        inside.insert(0, Box(kind="network", title="NAT gateway"))
    return Box(
        kind="public-subnet" if subnet.public else "private-subnet",
        title=subnet.name,
        caption="public subnet" if subnet.public else "private subnet",
        lines=(subnet.cidr,) if subnet.cidr else (),
        outside=not network.is_new,
        rows=(Row(boxes=tuple(inside)),) if inside else (),
        resource=f"{SUBNET}::{name}-network-{subnet.name}" if network.is_new else "",
    )


def _spanning(network: NetworkPlan, occupants: Sequence[Occupant]) -> Iterator[Row]:
    """Yield boxes of what is in several subnets, or in one that only the account knows."""
    places = dict.fromkeys(
        (each.subnets, each.in_one) for each in occupants if len(each.subnets) != 1
    )
    for subnets, in_one in places:
        inside = [
            each.box for each in occupants if (each.subnets, each.in_one) == (subnets, in_one)
        ]
        if not subnets:
            yield Row(boxes=tuple(inside))
            continue
        public = all(network.subnet(each).public for each in subnets)
        noun = f"{'public' if public else 'private'} subnets"
        title = f"One of {len(subnets)} {noun}" if in_one else f"{len(subnets)} {noun}"
        box = Box(
            kind="public-subnet" if public else "private-subnet",
            title=title,
            caption="the account decides which" if in_one else "nodes are in all of them",
            lines=(", ".join(subnets),),
            outside=not network.is_new,
            rows=(Row(boxes=tuple(inside)),),
        )
        yield Row(boxes=(box,))
