"""The reservations of the sandbox's account that fit the entries of a stack file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.instance_types import is_instance_type

_KINDS = {
    "odcr": "On-Demand Capacity Reservation",
    "odcr-group": "On-Demand Capacity Reservation",
    "capacity-block": "Capacity Block",
}


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or an empty one in the place of any other value: the file may be wrong."""
    return value if isinstance(value, Mapping) else {}


def sections(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a mapping and all mappings in it."""
    section = mapping_of(value)
    if section:
        yield section
    for each in section.values():
        yield from sections(each)


def chosen_reservations(
    cluster: Mapping[str, Any], preferred: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Mapping[str, Any]]:
    """Return the account's reservation for each entry of `reservations` for which it has one.

    The one that the entry names; otherwise one of its kind and of the type of its nodes, or of any
    type if no node uses the entry. The one in `preferred` comes first, by entry; then one with room
    for the nodes, which no other entry has, in a zone that the stack names, and which is active.
    """
    chosen: dict[str, Mapping[str, Any]] = {}
    for name, entry in mapping_of(cluster.get("reservations")).items():
        if mapping_of(entry).get("create"):
            continue
        taken = {each["id"] for each in chosen.values()}
        found = _reservation(name, mapping_of(entry), cluster, taken, preferred.get(name))
        if found is not None:
            chosen[name] = found
    return chosen


def missing_reservations(given: Any) -> list[str]:
    """Return a sentence for each entry without a matching reservation: what the account has."""
    cluster = mapping_of(given)
    chosen = chosen_reservations(cluster)
    said: list[str] = []
    for name, entry in mapping_of(cluster.get("reservations")).items():
        kind = mapping_of(entry).get("kind")
        if name in chosen or kind not in _KINDS or not _is_open(mapping_of(entry)):
            continue
        types = sorted({str(each["instance_type"]) for each in _nodes(name, cluster)})
        said.append(
            f"the sandbox's account has no {_KINDS[kind]} of {' or '.join(types)} for the "
            f"reservation `{name}`; it has {'; '.join(_described(kind))}"
        )
    return said


def _is_open(entry: Mapping[str, Any]) -> bool:
    return not any(entry.get(key) for key in ("reservation_id", "create", "members", "group_arn"))


def _described(kind: str) -> list[str]:
    return [
        f"{each['count']} x {each['type']} in {each['zone']} ({each['id']})"
        for each in fixture()["reservations"]
        if _is_of_kind(each, kind) and not _is_over(each)
    ]


def _reservation(
    name: str,
    entry: Mapping[str, Any],
    cluster: Mapping[str, Any],
    taken: set[str],
    preferred: str | None,
) -> Mapping[str, Any] | None:
    named = entry.get("reservation_id")
    if named is not None:
        return next((each for each in fixture()["reservations"] if each["id"] == named), None)
    nodes = _nodes(name, cluster)
    # A type that does not exist is refused; the reservation is then not a problem of its own.
    types = [known for each in nodes if is_instance_type(known := str(each["instance_type"]))]
    wanted = sum(_number(each.get("desired", each.get("minimum"))) for each in nodes)
    zones = _named_zones(entry, nodes, cluster)

    def rank(reservation: Mapping[str, Any]) -> tuple[object, ...]:
        ends = reservation.get("ends", "")
        return (
            reservation["id"] != preferred,
            reservation["count"] < wanted,
            reservation["id"] in taken,
            bool(zones) and reservation["zone"] not in zones,
            # A block that ends within the hour takes no more nodes.
            ends.endswith("m"),
            reservation["starts"].startswith("+"),
        )

    fitting = [
        each
        for each in fixture()["reservations"]
        if (not types or each["type"] in types) and _fits(each, entry) and not _is_over(each)
    ]
    return min(fitting, key=rank, default=None)


def _fits(reservation: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    is_shared = "owner" in reservation
    provenance = entry.get("provenance", "own")
    return _is_of_kind(reservation, entry.get("kind")) and (
        provenance == "auto" or is_shared == (provenance == "aws-assisted")
    )


def _is_of_kind(reservation: Mapping[str, Any], kind: object) -> bool:
    is_block = reservation.get("kind") == "capacity-block"
    return is_block if kind == "capacity-block" else not is_block and kind in _KINDS


def _is_over(reservation: Mapping[str, Any]) -> bool:
    return reservation.get("ends", "").startswith("-")


def _nodes(name: str, cluster: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the sections with an instance type in the node pools that use a reservation."""
    pools = sections(cluster.get("architecture"))
    using = [pool for pool in pools if pool.get("purchase_option") == name]
    return [each for pool in using for each in sections(pool) if "instance_type" in each]


def _named_zones(
    entry: Mapping[str, Any], nodes: list[Mapping[str, Any]], cluster: Mapping[str, Any]
) -> list[object]:
    """Return the zones that the entry, its nodes, or else the new VPC of the stack are in."""
    zones = [each.get("availability_zone") for each in (entry, *nodes)]
    named = [zone for zone in zones if zone]
    of_vpc = mapping_of(cluster.get("network")).get("availability_zones")
    return named or (of_vpc if isinstance(of_vpc, list) else [])


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
