"""The capacity of queues: On-Demand, Spot, and the reservations that they target."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.importing.draft import Draft
from trainyard.importing.placeholders import id_for, is_id
from trainyard.importing.reader import Reader

_TARGET = "CapacityReservationTarget"
_ID, _GROUP = "CapacityReservationId", "CapacityReservationResourceGroupArn"
_OPEN = {None: "on-demand", "ONDEMAND": "on-demand", "SPOT": "spot"}
"""`purchase_option` by `CapacityType` without a reservation."""


def read_purchase_option(
    source: Reader, resources: Sequence[Reader], queue: Draft, cluster: Draft
) -> None:
    """Read `CapacityType` and the targets of a queue and its compute resources."""
    kind = source.at("CapacityType")
    market = str(kind.value or "ONDEMAND")
    is_block = market == "CAPACITY_BLOCK"
    name = str(source.at("Name").value)
    target = source.at(_TARGET)
    below = queue.section("compute_resources", source.at("ComputeResources"))
    first = _read_target(target, market, name, queue, cluster)
    for resource in resources:
        own = str(resource.at("Name").value)
        section = below.section(own)
        found = _read_target(resource.at(_TARGET), market, f"{name}-{own}", section, cluster)
        if is_block and first is None:
            first = found
    if first is None and is_block:
        first = _reservation(f"{name}-block", "capacity-block", cluster)
        cluster.section("reservations").section(first).needs("reservation_id", id_for("cr"))
        kind.claim("taken over", _UNNAMED, ours=(*queue.at, "purchase_option"), rule="D1")
    queue.put("purchase_option", first or _OPEN.get(market, "on-demand"))
    kind.claim("taken over", ours=(*queue.at, "purchase_option"))


_UNNAMED = (
    "a Capacity Block needs its reservation: set CapacityReservationTarget.CapacityReservationId"
)


def _read_target(source: Reader, market: str, name: str, pool: Draft, cluster: Draft) -> str | None:
    """Read a target into `reservations` and a pool, and return the name of the reservation."""
    by_id, by_group = source.at(_ID), source.at(_GROUP)
    target = by_id if by_id.exists else by_group
    if not target.exists:
        return None
    if market == "SPOT":
        source.claim("dropped", "Spot Instances do not launch into reservations", rule="C15")
        return None
    if by_id.exists and by_group.exists:
        by_group.claim("dropped", "a launch targets an id or a group, not both", rule="C8")
    kind = "capacity-block" if market == "CAPACITY_BLOCK" else "odcr"
    if target is by_group:
        name, kind = f"{name}-group", "odcr-group"
        key = "group_arn"
    else:
        name, key = _known(target, cluster) or name, "reservation_id"
    name = _reservation(name, kind, cluster)
    reservation = cluster.section("reservations").section(name)
    if key == "reservation_id":
        reservation.take_id(key, target, "cr")
    else:
        reservation.take(key, target)
    pool.put("purchase_option", name)
    return name


def _known(target: Reader, cluster: Draft) -> str | None:
    """Return the name of a reservation that is already in the stack file."""
    if not is_id(target.value, "cr"):
        return None
    listed = cluster.values.get("reservations", {}).items()
    return next((name for name, each in listed if each.get("reservation_id") == target.value), None)


def _reservation(name: str, kind: str, cluster: Draft) -> str:
    """Add a reservation to the stack file, and return its name."""
    cluster.section("reservations").section(name).values.setdefault("kind", kind)
    return name
