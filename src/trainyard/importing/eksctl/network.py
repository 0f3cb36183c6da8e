"""The network of an eksctl `ClusterConfig`."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.importing.draft import Draft, StackDraft
from trainyard.importing.placeholders import id_for, is_id, is_placeholder
from trainyard.importing.reader import Reader

_NAT = {"disable": "none", "single": "single", "highlyavailable": "one-per-zone"}
_PRIVATE_SERVICES = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "sts")
"""Endpoints of a private cluster: those of eksctl (`pkg/apis/eksctl.io/v1alpha5/
endpoint_service.go`), and those of EKS and Pod Identity, which the nodes of a stack need."""
_FAMILIES = (("private", "private_subnet_ids"), ("public", "public_subnet_ids"))


def read_network(source: Reader, stack: StackDraft) -> None:
    """Read `vpc`, and the zones of a new VPC."""
    cluster = stack.cluster
    vpc = source.at("vpc")
    network = cluster.section("network", vpc)
    if vpc.at("id").exists or any(_subnets(vpc)):
        _read_existing(vpc, network)
        source.at("availabilityZones").dropped("the subnets of the VPC have their zones")
        return
    network.put("kind", "new-vpc")
    _read_zones(source, network, stack.region)
    network.take("cidr", vpc.at("cidr"))
    _read_gateways(source, network)
    if network.values.get("nat_gateways") == "none" and not vpc.at("nat", "gateway").exists:
        # Which images and services nodes reach is a question of the add-ons of the stack.
        stack.own.add((*network.at, "nat_gateways"))
    for family, _ in _FAMILIES:
        vpc.at("subnets", family).unsupported(
            "set `public_subnet_cidrs` and `private_subnet_cidrs`, one for each zone in the order "
            "of `availability_zones`"
        )


def _subnets(vpc: Reader) -> Iterator[Reader]:
    """Yield the ids of existing subnets."""
    for family, _ in _FAMILIES:
        subnets = vpc.at("subnets", family)
        yield from (each for each in subnets.items() if each.exists)
        yield from (entry.at("id") for _, entry in subnets.entries() if entry.at("id").exists)


def _read_existing(vpc: Reader, network: Draft) -> None:
    network.put("kind", "existing-vpc")
    network.take_id("vpc_id", vpc.at("id"), "vpc")
    if not network.has("vpc_id"):
        network.needs("vpc_id", id_for("vpc"))
    for number, (family, key) in enumerate(_FAMILIES):
        subnets = vpc.at("subnets", family)
        listed = [*subnets.items(), *(entry.at("id") for _, entry in subnets.entries())]
        network.take_ids(key, [each for each in listed if each.exists], "subnet")
        for _, entry in subnets.entries():
            entry.at("az").implied("the subnet has its zone")
            entry.at("cidr").implied("the subnet has its addresses")
        if not network.has(key) and family == "public" and not listed:
            network.put(key, [])
        network.needs(key, [id_for("subnet", 2 * number + 1), id_for("subnet", 2 * number + 2)])
    vpc.at("cidr").implied("the VPC has its addresses")
    vpc.at("nat").dropped("an existing VPC has its own NAT gateways")


def _read_zones(source: Reader, network: Draft, region: str) -> None:
    zones = source.at("availabilityZones")
    example = [f"{region or 'us-east-1'}{letter}" for letter in "ab"]
    values = zones.value if isinstance(zones.value, list) else []
    if values and not any(map(is_placeholder, values)):
        network.take("availability_zones", zones)
        return
    zones.claim(
        "not supported",
        "it is a placeholder: set zones of the region",
        ours=(*network.at, "availability_zones"),
    )
    of_nodes = [zone for zone in _zones_of_nodes(source) if not is_placeholder(zone)]
    if of_nodes:
        # At least two for the control plane; eksctl adds another zone by itself.
        others = [zone for zone in example if zone not in of_nodes]
        network.put("availability_zones", [*of_nodes, *others[: max(0, 2 - len(of_nodes))]])
    else:
        network.needs("availability_zones", example)


def _zones_of_nodes(source: Reader) -> list[str]:
    groups = (
        each for key in ("managedNodeGroups", "nodeGroups") for each in source.at(key).items()
    )
    zones = (str(zone.value) for each in groups for zone in each.at("availabilityZones").items())
    return list(dict.fromkeys(zones))


def _read_gateways(source: Reader, network: Draft) -> None:
    private = source.at("privateCluster", "enabled")
    gateway = source.at("vpc", "nat", "gateway")
    if private.flag is True:
        network.put("public_subnets", value=False)
        network.put("nat_gateways", "none")
        gateway.dropped("a private cluster has no NAT gateway")
        services = source.at("privateCluster", "additionalEndpointServices")
        network.put("interface_endpoints", list(_PRIVATE_SERVICES))
        for service in services.items():
            listed = network.values["interface_endpoints"]
            if service.value not in listed:
                listed.append(service.value)
            number = listed.index(service.value)
            service.claim("taken over", ours=(*network.at, "interface_endpoints", number))
    network.take("nat_gateways", gateway, change=lambda value: _NAT.get(str(value).lower(), value))


def subnet_named(vpc: Reader, name: str) -> str | None:
    """Return the id of the subnet that a node group names, by its id or its name in `vpc`."""
    if is_id(name, "subnet"):
        return name
    for family, _ in _FAMILIES:
        known = vpc.at("subnets", family, name, "id").value
        if is_id(known, "subnet"):
            return str(known)
    return None
