"""The values with which the sandbox's account completes a stack's configuration.

A stack file leaves out what only the owner of the account knows: the ids of the network, of
reservations and of images. The account of the sandbox has each of them, so they follow from the
stack file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.catalog.instance_types import INSTANCE_TYPES
from sandbox.account.fixture import fixture
from tools.workspace.stack_files import StackFileError, find_stack_file

_ZONES = ("us-west-2b", "us-west-2a")
"""Zones of a network, in the order of preference; most reservations are in the first."""
_ZONES_OF_NETWORK = 2
"""An EKS cluster needs two."""


def completion(stack: str) -> dict[str, Any]:
    """Return what the account knows of a stack's `trainyard:cluster`; empty for an unknown stack.

    It follows from the tracked stack file, also where a copy with other values is in use. What a
    stack file says itself wins over it: somebody who names another reservation of the account
    wants that one.
    """
    try:
        return values_of(find_stack_file(stack).cluster)
    except StackFileError:
        return {}


def values_of(cluster: Any) -> dict[str, Any]:
    """Return the network, reservations and images of the account for a `trainyard:cluster`."""
    sections = _mapping(cluster)
    architecture = _mapping(sections.get("architecture"))
    chosen = {
        name: reservation
        for name, entry in _mapping(sections.get("reservations")).items()
        if (reservation := _reservation(name, _mapping(entry), architecture)) is not None
    }
    found = {
        "network": _network(_mapping(sections.get("network")), [*chosen.values()]),
        "reservations": {name: _values(reservation) for name, reservation in chosen.items()},
        "architecture": _images(architecture),
    }
    return {key: values for key, values in found.items() if values}


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping of a stack file, which may have anything in its place."""
    return value if isinstance(value, Mapping) else {}


def _sections(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a mapping and all mappings in it."""
    section = _mapping(value)
    if section:
        yield section
    for each in section.values():
        yield from _sections(each)


def _reservation(
    name: str, entry: Mapping[str, Any], architecture: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return the account's first reservation that has room for the nodes that use an entry."""
    pools = [pool for pool in _sections(architecture) if pool.get("purchase_option") == name]
    nodes = [section for pool in pools for section in _sections(pool) if "instance_type" in section]
    wanted = sum(_number(each.get("desired", each.get("minimum"))) for each in nodes)
    shared = entry.get("provenance") == "aws-assisted"
    for reservation in fixture()["reservations"]:
        if (
            reservation.get("kind", "odcr") == entry.get("kind")
            and reservation["type"] in [each["instance_type"] for each in nodes]
            and reservation["count"] >= wanted
            and ("owner" in reservation) == shared
        ):
            return reservation
    return None


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _values(reservation: Mapping[str, Any]) -> dict[str, str]:
    group = reservation.get("placement_group")
    return {"reservation_id": reservation["id"], **({"placement_group": group} if group else {})}


def _network(
    network: Mapping[str, Any], reservations: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the account's VPC, with subnets in the zones of the reservations."""
    if network.get("kind") != "existing-vpc":
        return {}
    wanted = dict.fromkeys((*(each["zone"] for each in reservations), *_ZONES))
    zones = sorted([*wanted][:_ZONES_OF_NETWORK])
    return {
        "kind": "existing-vpc",
        "vpc_id": fixture()["vpc"]["id"],
        "public_subnet_ids": [_subnet(zone, "public") for zone in zones],
        "private_subnet_ids": [_subnet(zone, "private") for zone in zones],
    }


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
        for name, environment in _mapping(architecture.get("compute_environments")).items()
        if _mapping(environment).get("image") == "custom"
    }
    return {"compute_environments": environments} if environments else {}


def _manufacturer(section: Mapping[str, Any]) -> str:
    """Return the manufacturer of the first accelerators in a section; `standard` without any."""
    types = (INSTANCE_TYPES.get(str(each.get("instance_type"))) for each in _sections(section))
    accelerators = [each.accelerators for each in types if each and each.accelerators]
    return accelerators[0].manufacturer if accelerators else "standard"
