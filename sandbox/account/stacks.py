"""The values with which the sandbox's account completes a stack's configuration.

A stack file leaves out what only the owner of the account knows: the ids of the network, of
reservations and of images. The account of the sandbox has each of them, so they follow from the
stack file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from trainyard.sandbox.account.fixture import fixture
from trainyard.sandbox.account.reservation_choice import chosen_reservations, mapping_of, sections
from trainyard.sandbox.instance_types import instance_type, is_instance_type

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
    group = reservation.get("placement_group")
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
