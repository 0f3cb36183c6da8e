"""The values with which the account completes a stack's configuration, such as reservations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.instance_types import instance_type, is_instance_type

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


# The values with which the sandbox's account completes a stack's configuration.
#
# A stack file leaves out what only the owner of the account knows: the ids of the network, of
# reservations and of images. The account of the sandbox has each of them, so they follow from the
# stack file.


_ZONES = ("us-west-2b", "us-west-2a")
"""Zones of a network, in the order of preference; most reservations are in the first."""
_ZONES_OF_NETWORK = 2
"""An EKS cluster needs two."""
_FILE_SYSTEMS = {
    "existing-efs": ("efs", "file_system_id", "id"),
    "existing-fsx-lustre": ("lustre", "file_system_id", "id"),
    "existing-fsx-openzfs": ("openzfs", "volume_id", "volume"),
}
"""Kind of a storage entry, with the section of the fixture, the key, and the key in the fixture."""


def completion(cluster: Any, example: Any = None) -> dict[str, Any]:
    """Return what the account knows of the `trainyard:cluster` of a stack file.

    Values in the file take precedence: a user who names another reservation of the account wants
    that one. A copy of an example has the reservations of the example, even if it needs fewer
    nodes.

    Args:
        cluster: The object in the stack file.
        example: The one in the example of the same name; None if there is none.
    """
    entries = values_of(example).get("reservations", {})
    preferred = {name: entry.get("reservation_id", "") for name, entry in entries.items()}
    return values_of(cluster, preferred)


def values_of(cluster: Any, preferred: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """Return the ids in the account for a `trainyard:cluster`.

    `preferred` are ids of reservations to use if they fit, by entry.
    """
    given = mapping_of(cluster)
    architecture = mapping_of(given.get("architecture"))
    chosen = chosen_reservations(given, preferred)
    found = {
        "network": _network(given, [*chosen.values()]),
        "reservations": {
            name: _values(mapping_of(given["reservations"][name]), reservation)
            for name, reservation in chosen.items()
        },
        "storage": _storage(mapping_of(given.get("storage"))),
        "architecture": _images(architecture),
    }
    return {key: values for key, values in found.items() if values}


def accounts() -> tuple[str, ...]:
    """Return the ids of the accounts of a sandbox, its own first."""
    return ACCOUNT_ID, fixture()["second_account"]["id"]


def account_ids() -> frozenset[str]:
    """Return every id and name in the fixture."""
    found: set[str] = set()
    waiting: list[Any] = [fixture()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, Sequence):
            waiting += value
    return frozenset(found)


def _values(entry: Mapping[str, Any], reservation: Mapping[str, Any]) -> dict[str, Any]:
    # `provenance: auto` reads the group, and refuses one in the file.
    given = entry.get("provenance", "own") == "own"
    group = reservation.get("placement_group") if given else None
    own_group = {"placement_group": group} if group else {}
    if entry.get("kind") != "odcr-group":
        return {"reservation_id": reservation["id"], **own_group}
    return {} if "group_arn" in entry else {"members": [reservation["id"]], **own_group}


def _network(
    cluster: Mapping[str, Any], reservations: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the account's VPC, with subnets in the zones of the reservations and node pools."""
    network = mapping_of(cluster.get("network"))
    if network.get("kind") != "existing-vpc":
        return {}
    there = {each["zone"] for each in fixture()["subnets"]}
    named = (each.get("availability_zone") for each in sections(cluster))
    needed = dict.fromkeys(
        (
            *(each["zone"] for each in reservations),
            *(zone for zone in named if isinstance(zone, str) and zone in there),
        )
    )
    wanted = dict.fromkeys((*needed, *_ZONES))
    zones = sorted([*wanted][: max(_ZONES_OF_NETWORK, len(needed))])
    return {
        "kind": "existing-vpc",
        "vpc_id": fixture()["vpc"]["id"],
        "public_subnet_ids": [_subnet(zone, "public") for zone in zones],
        "private_subnet_ids": [_subnet(zone, "private") for zone in zones],
    }


def _storage(storage: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the account's file systems for the entries that mount an existing one."""
    found: dict[str, dict[str, str]] = {}
    for name, entry in storage.items():
        kind = mapping_of(entry).get("kind")
        if isinstance(kind, str) and kind in _FILE_SYSTEMS:
            section, key, key_there = _FILE_SYSTEMS[kind]
            found[name] = {key: fixture()["file_systems"][section][0][key_there]}
    return found


def _subnet(zone: str, routes: str) -> str:
    subnets = fixture()["subnets"]
    return next(each["id"] for each in subnets if (each["zone"], each["routes"]) == (zone, routes))


def _images(architecture: Mapping[str, Any]) -> dict[str, Any]:
    """Return the custom AMIs of a cluster, or of the compute environments of a Batch stack."""
    if architecture.get("kind") == "parallelcluster":
        if architecture.get("image") != "custom":
            return {}
        system = architecture.get("operating_system")
        name = f"{'neuron' if _manufacturer(architecture) == 'neuron' else 'gpu'}-{system}"
        built = fixture()["parallelcluster_images"]["custom"]
        found = [image["id"] for image in built if image["name"] == name]
        return {"custom_ami_id": found[0]} if found else {}
    environments = {
        name: {"custom_ami_id": fixture()["ecs_images"][_manufacturer(environment)]}
        for name, environment in mapping_of(architecture.get("compute_environments")).items()
        if mapping_of(environment).get("image") == "custom"
    }
    return {"compute_environments": environments} if environments else {}


def _manufacturer(section: Mapping[str, Any]) -> str:
    """Return the manufacturer of the first accelerators in a section; `standard` without any."""
    named = (str(each["instance_type"]) for each in sections(section) if "instance_type" in each)
    types = (instance_type(name) for name in named if is_instance_type(name))
    return next((each.accelerators.maker for each in types if each.accelerators), "standard")
