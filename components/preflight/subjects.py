"""Subjects of the account checks: keys of the stack file and known facts about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.account.batch_image_check import image_ids as batch_image_ids
from components.account.facts import AccountFacts, ReservationFacts
from components.account.parallelcluster_image_check import image_ids as cluster_image_ids
from components.account.reservations import found_reservations
from components.account.stack_lookup import key_names
from components.config.network import ExistingVpc, NewVpc
from components.config.pools import pools
from components.config.stack_models import is_batch, is_eks, is_parallelcluster

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig

    _Subjects = Callable[[AnyStackConfig, AccountFacts], Iterator["Subject"]]


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of a check."""

    key: str
    """Key in the stack file, below `trainyard:cluster`."""
    asked: str
    found: str
    """Facts from the account if the check passed."""
    calls: tuple[str, ...] = ()
    """AWS calls that the check needs."""


_OPEN_PORTS = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroupRules")
"""Calls that show whether the security groups of a file system allow the nodes."""


def subjects_of(check: str, config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield the subjects of a check, by its name; one subject for the whole check by default."""
    listed = _LISTED.get(check)
    if listed is not None:
        yield from listed(config, facts)
    elif check in _AS_A_WHOLE:
        yield _AS_A_WHOLE[check]


def _network(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    network = config.network
    if not isinstance(network, ExistingVpc):
        return
    yield Subject(
        "network.vpc_id",
        "exists and gives DNS names",
        network.vpc_id,
        ("ec2:DescribeVpcs", "ec2:DescribeVpcAttribute"),
    )
    calls = ("ec2:DescribeSubnets", "ec2:DescribeRouteTables")
    yield _subnets("public", network.public_subnet_ids, facts, calls)
    yield _subnets("private", network.private_subnet_ids, facts, calls)


def _subnets(
    kind: str, ids: tuple[str, ...], facts: AccountFacts, calls: tuple[str, ...]
) -> Subject:
    found = "; ".join(
        f"{each.subnet_id}: {each.availability_zone}, {each.free_addresses} addresses free, "
        f"default route {each.default_route}"
        for each in (facts.subnets[i] for i in ids if i in facts.subnets)
    )
    return Subject(
        f"network.{kind}_subnet_ids", f"are {kind} subnets of the VPC", found or "none", calls
    )


def _zones(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    network = config.network
    if isinstance(network, NewVpc):
        found = (facts.zone(each) for each in network.availability_zones)
        named = ", ".join(f"{zone.name} ({zone.zone_id})" for zone in found if zone)
        calls = ("ec2:DescribeAvailabilityZones",)
        asked = "are zones of this region that the stack can use"
        yield Subject("network.availability_zones", asked, named, calls)


def _reservations(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    calls = ("ec2:DescribeCapacityReservations", "resource-groups:ListGroupResources")
    for name, reservation in config.reservations.items():
        found = "; ".join(_told(each) for each in found_reservations(reservation, facts))
        yield Subject(
            f"reservations.{name}",
            "exists, can be used, and fits the nodes",
            found or "not seen yet",
            calls,
        )


def _told(found: ReservationFacts) -> str:
    kind = "Capacity Block" if found.kind == "capacity-block" else "ODCR"
    group = f", in placement group {found.placement_group}" if found.placement_group else ""
    return (
        f"{found.reservation_id}: {kind}, {found.state}, {found.instance_count} "
        f"{found.instance_type} in {found.availability_zone}, {found.platform}, of account "
        f"{found.owner_id}{group}"
    )


def _offered(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    calls = ("ec2:DescribeInstanceTypeOfferings",)
    for pool in pools(config):
        zones = facts.offered_zone_ids.get(pool.instance_type, frozenset())
        found = f"{pool.instance_type} in {', '.join(sorted(zones)) or 'no zone'}"
        yield Subject(pool.key, "the type is offered where the nodes launch", found, calls)


def _storage(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    for name in config.storage:
        asked = "is or becomes what the stack file says"
        calls = ("fsx:DescribeFileSystems", *_OPEN_PORTS)
        yield Subject(f"storage.{name}", asked, "nothing against it", calls)


def _keys(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    for name in key_names(config):
        found = f"{name}, {facts.key_pairs.get(name, 'type not told')}"
        calls = ("ec2:DescribeKeyPairs",)
        yield Subject("architecture", "the key pair exists and fits", found, calls)


def _images(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    named: tuple[str, ...] = ()
    if is_parallelcluster(config):
        named = cluster_image_ids(config.architecture)
    elif is_batch(config):
        named = batch_image_ids(config.architecture)
    for image_id in named:
        image = facts.images.get(image_id)
        found = f"{image_id}, {image.state}, {image.architecture}" if image else image_id
        calls = ("ec2:DescribeImages",)
        yield Subject("architecture", "the image exists and fits the nodes", found, calls)


def _version(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    if is_eks(config):
        cluster = facts.cluster
        found = (
            f"{cluster.name} is {cluster.status} at {cluster.kubernetes_version}"
            if cluster
            else "no cluster of this name yet"
        )
        key = "architecture.kubernetes_version"
        asked = "the cluster can get to the version"
        yield Subject(key, asked, found, ("eks:DescribeCluster",))


def _addons(config: AnyStackConfig, facts: AccountFacts) -> Iterator[Subject]:
    if is_eks(config):
        for name, version in config.architecture.addons.versions.items():
            key = f"architecture.addons.versions.{name}"
            yield Subject(key, "EKS offers the version", version, ("eks:DescribeAddonVersions",))


_LISTED: Mapping[str, _Subjects] = {
    "VPC and subnets": _network,
    "zones": _zones,
    "reservations": _reservations,
    "offered types": _offered,
    "file systems": _storage,
    "key pairs": _keys,
    "images": _images,
    "Kubernetes version": _version,
    "add-on versions": _addons,
}
"""By the name of the check."""

_NOTHING = "nothing against it"
_AS_A_WHOLE: Mapping[str, Subject] = {
    "authorization": Subject(
        "architecture.authentication_mode",
        "nodes and people keep their way in",
        _NOTHING,
        ("eks:DescribeCluster",),
    ),
    "control plane subnets": Subject(
        "network", "the control plane finds its subnets", _NOTHING, ("ec2:DescribeSubnets",)
    ),
    "addresses": Subject(
        "network", "the subnets hold all nodes", _NOTHING, ("ec2:DescribeSubnets",)
    ),
    "head node": Subject(
        "architecture.head_node", "its subnet fits", _NOTHING, ("ec2:DescribeSubnets",)
    ),
    "queue subnets": Subject(
        "architecture.queues", "their subnets fit", _NOTHING, ("ec2:DescribeSubnets",)
    ),
    "mounted storage": Subject(
        "storage",
        "the nodes reach it",
        _NOTHING,
        (
            "elasticfilesystem:DescribeFileSystems",
            "elasticfilesystem:DescribeMountTargets",
            "elasticfilesystem:DescribeMountTargetSecurityGroups",
            "fsx:DescribeVolumes",
            *_OPEN_PORTS,
        ),
    ),
    "changes of the cluster": Subject(
        "architecture", "the cluster can become what the stack file says", _NOTHING
    ),
    "zones of reservations": Subject(
        "reservations",
        "nodes are wanted in the zone of their reservation",
        _NOTHING,
        ("ec2:DescribeCapacityReservations",),
    ),
    "room for both in reservations": Subject(
        "architecture.queues", "no update needs more nodes than are reserved", _NOTHING
    ),
    "images of pods": Subject(
        "architecture",
        "the nodes reach the registries of their pods",
        _NOTHING,
        ("ec2:DescribeRouteTables",),
    ),
    "images of jobs": Subject(
        "architecture.job_definitions",
        "the nodes reach their registries",
        _NOTHING,
        ("ec2:DescribeRouteTables",),
    ),
    "default security group": Subject(
        "architecture.job_definitions",
        "containers on several nodes reach one another",
        _NOTHING,
        ("ec2:DescribeSecurityGroups", "ec2:DescribeSecurityGroupRules"),
    ),
}
"""Checks of several keys with one common row if all pass."""
