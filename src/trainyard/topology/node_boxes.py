"""The boxes of nodes, inside the reservation that they launch into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.reservations import CapacityBlock, OdcrGroup, Reservation
from trainyard.topology.box import Box, Occupant, Row

_RESERVED = {
    "capacity-block": "Capacity Block for ML",
    "odcr": "On-Demand Capacity Reservation",
    "odcr-group": "group of Capacity Reservations",
}
_MAKERS = {"nvidia": "NVIDIA", "neuron": "AWS"}


def nodes_box(
    pool: NodePoolPlan, *, caption: str, resource: str = "", more: Iterable[str] = ()
) -> Box:
    """Return the box of the nodes of a pool.

    Args:
        pool: Its plan.
        caption: What it is in its architecture, such as `managed node group`.
        resource: `TYPE::NAME` of its component.
        more: Lines of its architecture.
    """
    return Box(
        kind="nodes",
        title=pool.name,
        caption=caption,
        lines=(f"{count(pool)} x {pool.instance_type.name}", *_facts(pool), *more),
        interfaces=tuple(each.interface_type for each in pool.interfaces.interfaces)
        if pool.interfaces
        else (),
        anchor=anchor_of(pool),
        resource=resource,
    )


def anchor_of(pool: NodePoolPlan) -> str:
    """Return the id of the section of a report about a pool; unique in a stack."""
    own = pool.key if pool.name == pool.pool else f"{pool.key}.{pool.name}"
    return own.replace(".", "-")


def count(pool: NodePoolPlan) -> str:
    """Return the number of nodes as text: `2`, or `0 to 16`."""
    if pool.nodes == pool.most_nodes:
        return str(pool.nodes)
    return f"{pool.nodes} to {pool.most_nodes}"


def accelerators(pool: NodePoolPlan) -> str:
    """Return the accelerators of one node as text; empty without."""
    found = pool.instance_type.accelerators
    if found is None:
        return ""
    memory = f"{found.memory_mib / 1024:.0f} GiB"
    return f"{found.count} x {_MAKERS[found.manufacturer]} {found.model}, {memory} each"


def _facts(pool: NodePoolPlan) -> Iterator[str]:
    if pool.instance_type.accelerators:
        yield accelerators(pool)
    if pool.interfaces:
        efa = pool.interfaces.efa_interfaces
        yield f"{efa} EFA interface{'s' if efa > 1 else ''} per node"
    if not pool.capacity.is_reserved:
        yield {"spot": "Spot"}.get(pool.capacity.kind, "On-Demand")
    if pool.placement.group != "none":
        yield f"cluster placement group{f' {pool.placement.name}' if pool.placement.name else ''}"


def is_in_one_subnet(pool: NodePoolPlan) -> bool:
    """Return whether all nodes launch in one subnet, also if only the account knows which."""
    capacity = pool.capacity
    return bool(pool.interfaces or capacity.is_reserved or capacity.availability_zone)


def placed(
    pools: Sequence[tuple[NodePoolPlan, Box]], reservations: Mapping[str, Reservation]
) -> Iterator[Occupant]:
    """Yield the boxes of nodes in their subnets, each inside its reservation, if it has one."""

    def place(each: tuple[NodePoolPlan, Box]) -> tuple[object, ...]:
        pool = each[0]
        reserved = pool.capacity.purchase_option if pool.capacity.is_reserved else ""
        return pool.subnets, is_in_one_subnet(pool), reserved

    # `groupby` joins neighbours; the order of the stack file stays, with pools of a place together.
    order = {key: index for index, key in enumerate(dict.fromkeys(map(place, pools)))}
    for _, found in groupby(sorted(pools, key=lambda each: order[place(each)]), key=place):
        together = [*found]
        pool, boxes = together[0][0], tuple(box for _, box in together)
        if pool.capacity.is_reserved:
            boxes = (_reservation(pool, boxes, reservations),)
        for box in boxes:
            yield Occupant(box=box, subnets=pool.subnets, in_one=is_in_one_subnet(pool))


def _reservation(
    pool: NodePoolPlan, boxes: tuple[Box, ...], reservations: Mapping[str, Reservation]
) -> Box:
    capacity = pool.capacity
    arn = capacity.reservation_group_arn
    title = capacity.reservation_id or (arn.rpartition("/")[2] if arn else "")
    return Box(
        kind="reservation",
        title=title or capacity.purchase_option,
        caption=_RESERVED[capacity.kind],
        lines=tuple(_terms(reservations.get(capacity.purchase_option))),
        outside=not capacity.reservation_group_members and capacity.creation is None,
        rows=(Row(boxes=boxes),),
    )


def _terms(reservation: Reservation | None) -> Iterator[str]:
    if reservation is None:
        return
    count, zone = reservation.instance_count, reservation.availability_zone
    if count or zone:
        yield ", ".join([*([f"{count} instances"] if count else []), *([zone] if zone else [])])
    if isinstance(reservation, CapacityBlock):
        for name, at in (("from", reservation.starts_at), ("until", reservation.ends_at)):
            if at is not None:
                yield f"{name} {at:%Y-%m-%d %H:%M} UTC"
    if isinstance(reservation, OdcrGroup) and reservation.members:
        yield f"{len(reservation.members)} reservations"
