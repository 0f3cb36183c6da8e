"""Checks of the existing file systems and volumes that a ParallelCluster stack mounts."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from trainyard.components.account.check import Subject
from trainyard.components.account.facts import AccountFacts
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.network.facts import IngressFacts, SubnetFacts
from trainyard.components.parallelcluster.plan import ParallelClusterPlan, SharedStoragePlan
from trainyard.components.storage.checks import OPEN_PORTS, USABLE, Ports, described, is_open
from trainyard.components.storage.facts import FileSystemFacts
from trainyard.components.storage.storage_plan import LUSTRE_PORTS

# Checks of the existing file systems and volumes that a ParallelCluster stack mounts.
#
# Source: `EfsIdValidator`, `ExistingFsxNetworkingValidator` and `SharedEbsVolumeIdValidator` of
# aws-parallelcluster 3.16.1, which fail the creation of the cluster.


MOUNTED_STORAGE = Subject(
    "storage",
    "the nodes can mount it",
    calls=(
        "elasticfilesystem:DescribeFileSystems",
        "elasticfilesystem:DescribeMountTargets",
        "elasticfilesystem:DescribeMountTargetSecurityGroups",
        "fsx:DescribeVolumes",
        *OPEN_PORTS,
    ),
)
"""What `mounted_storage_problems` checks."""


NFS_PORTS: tuple[Ports, ...] = ((2049, 2049),)


OPEN_ZFS_PORTS: tuple[Ports, ...] = ((111, 111), (2049, 2049), (20001, 20003))
"""TCP ports that clients use.

https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
"""


AVAILABLE = "available"


def mounted_storage_problems(plan: ParallelClusterPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why nodes could not mount existing file systems and volumes."""
    checks = {"Ebs": _volume, "Efs": _efs, "FsxLustre": _lustre, "FsxOpenZfs": _open_zfs}
    for storage in plan.shared_storage:
        yield from checks[storage.type](storage, plan, facts)


def _volume(
    storage: SharedStoragePlan, plan: ParallelClusterPlan, facts: AccountFacts
) -> Iterator[Problem]:
    volume_id = storage.settings.get("VolumeId")
    if not isinstance(volume_id, str) or not facts.could_read("ec2:DescribeVolumes"):
        return
    path = f"{ROOT}.storage.{storage.name}.volume_id"
    found = facts.volumes.get(volume_id)
    if found is None:
        yield _missing(path, volume_id, "volume")
        return
    head_node = [facts.subnets[name] for name in plan.head_node.subnets if name in facts.subnets]
    if len(head_node) == 1 and found.availability_zone != head_node[0].availability_zone:
        yield Problem(
            path=path,
            found=f"{volume_id} in {found.availability_zone}",
            problem=f"the head node, which shares it, is in {head_node[0].availability_zone}",
            allowed=f"a volume in {head_node[0].availability_zone}",
            remedy=f"set architecture.head_node.availability_zone to {found.availability_zone}, "
            "for a new cluster; or use another volume",
        )
    # A volume that is attached to this cluster's head node is in use and valid.
    if found.state == AVAILABLE or facts.deployed_cluster is not None:
        return
    in_use = found.state == "in-use"
    user = f" by {found.attached_to or 'no instance'}" if in_use else ""
    yield Problem(
        path=path,
        found=f"{volume_id}, {found.state}{user}",
        problem=(
            "the head node cannot attach a volume that is in use"
            if in_use
            else "the head node cannot attach a volume in this state"
        ),
        allowed="a volume that is available",
        remedy=(
            "detach it (`aws ec2 detach-volume`), or use another volume"
            if in_use
            else "wait until it is available, or use another volume"
        ),
    )


def _efs(
    storage: SharedStoragePlan, plan: ParallelClusterPlan, facts: AccountFacts
) -> Iterator[Problem]:
    file_system_id = storage.settings.get("FileSystemId")
    readable = facts.could_read("elasticfilesystem:DescribeFileSystems")
    if not isinstance(file_system_id, str) or not readable:
        return
    path = f"{ROOT}.storage.{storage.name}.file_system_id"
    found = facts.efs.get(file_system_id)
    if found is None:
        yield _missing(path, file_system_id, "file system")
        return
    if found.lifecycle not in _USABLE_EFS:
        yield _not_usable(path, f"{file_system_id}, {found.lifecycle}", "available")
    if not facts.could_read("elasticfilesystem:DescribeMountTargets"):
        return
    targets = {t.availability_zone: t for t in found.targets if t.vpc_id == plan.network.vpc_id}
    subnets = _subnets(plan, facts)
    lacking = sorted({s.availability_zone for s in subnets} - set(targets))
    if lacking:
        yield Problem(
            path=path,
            found=(
                f"{file_system_id}, with mount targets in {', '.join(sorted(targets)) or 'no zone'}"
            ),
            problem=f"nodes in {', '.join(lacking)} have no mount target in their zone",
            allowed="a file system with a mount target in each zone of the cluster, in its VPC",
            remedy=(
                f"create one (`aws efs create-mount-target --file-system-id {file_system_id} "
                "--subnet-id subnet-…`), or use another file system"
            ),
        )
    for zone, target in targets.items():
        if facts.could_read("elasticfilesystem:DescribeMountTargetSecurityGroups"):
            there = [subnet for subnet in subnets if subnet.availability_zone == zone]
            yield from _doors(
                path, target.security_group_ids, target.lets_in, there, facts, NFS_PORTS
            )


def _lustre(
    storage: SharedStoragePlan, plan: ParallelClusterPlan, facts: AccountFacts
) -> Iterator[Problem]:
    found = facts.file_systems.get(storage.settings.get("FileSystemId", ""))
    if found is not None and facts.could_read("ec2:DescribeNetworkInterfaces"):
        path = f"{ROOT}.storage.{storage.name}.file_system_id"
        subnets = _subnets(plan, facts)
        groups = found.security_group_ids
        yield from _doors(path, groups, found.lets_in, subnets, facts, LUSTRE_PORTS)


def _open_zfs(
    storage: SharedStoragePlan, plan: ParallelClusterPlan, facts: AccountFacts
) -> Iterator[Problem]:
    volume_id = storage.settings.get("VolumeId")
    if not isinstance(volume_id, str) or not facts.could_read("fsx:DescribeVolumes"):
        return  # a reference: the stack creates it
    path = f"{ROOT}.storage.{storage.name}.volume_id"
    found = facts.open_zfs.get(volume_id)
    if found is None:
        yield _missing(path, volume_id, "volume")
        return
    # `FsxOpenZfs` mounts volumes of OPENZFS.
    wanted = storage.type.removeprefix("Fsx").upper()
    yield from _volume_problems(path, volume_id, wanted, found, _subnets(plan, facts))
    if found.vpc_id != plan.network.vpc_id:
        yield Problem(
            path=path,
            found=f"{volume_id}, in {found.vpc_id}",
            problem="this file system is in another VPC, where the nodes cannot reach it",
            allowed=f"a volume in {plan.network.vpc_id}",
            remedy="use a volume in the cluster's VPC",
        )
    elif facts.could_read("ec2:DescribeNetworkInterfaces"):
        groups, subnets = found.security_group_ids, _subnets(plan, facts)
        yield from _doors(path, groups, found.lets_in, subnets, facts, OPEN_ZFS_PORTS)


_USABLE_EFS = ("available", "updating")
"""https://docs.aws.amazon.com/efs/latest/ug/API_FileSystemDescription.html, `LifeCycleState`"""
_USABLE_VOLUME = ("AVAILABLE", "CREATED", "MISCONFIGURED")
"""https://docs.aws.amazon.com/fsx/latest/APIReference/API_Volume.html, `Lifecycle`"""


def _volume_problems(
    path: str, volume_id: str, wanted: str, found: FileSystemFacts, subnets: list[SubnetFacts]
) -> Iterator[Problem]:
    """Yield why nodes could not mount a volume of a type of FSx, apart from its network."""
    if found.type != wanted:
        yield Problem(
            path=path,
            found=f"{volume_id}, of {found.type}",
            problem=f"this is no volume of the type {wanted}; ParallelCluster mounts it as one",
            allowed=f"a volume of the type {wanted}",
            remedy="set the id of such a volume (`aws fsx describe-volumes`)",
        )
        return
    if found.lifecycle not in USABLE:
        yield _not_usable(path, f"{found.file_system_id}, {found.lifecycle}", "AVAILABLE")
    if found.volume_lifecycle not in _USABLE_VOLUME:
        yield _not_usable(path, f"{volume_id}, {found.volume_lifecycle}", "AVAILABLE")
    if found.exported_to is None or "*" in found.exported_to:
        return
    networks = [IPv4Network(each) for each in found.exported_to if _is_network(each)]
    if len(networks) < len(found.exported_to):
        return  # a host name may be one of the nodes
    closed = [each.cidr for each in subnets if not any(map(each.cidr.subnet_of, networks))]
    if closed:
        yield Problem(
            path=path,
            found=f"{volume_id}, exported to {', '.join(found.exported_to) or 'nobody'}",
            problem=f"the NFS exports of the volume do not let in nodes of {closed[0]}",
            allowed=f"exports to {', '.join(map(str, closed))}, or to `*`",
            remedy=f"change them: `aws fsx update-volume --volume-id {volume_id} "
            "--open-zfs-configuration file://exports.json`",
        )


def _is_network(client: str) -> bool:
    try:
        IPv4Network(client)
    except ValueError:
        return False
    return True


def _not_usable(path: str, found: str, wanted: str) -> Problem:
    return Problem(
        path=path,
        found=found,
        problem="this file system cannot be mounted in its current state",
        allowed=wanted,
        remedy=f"wait until it is {wanted}, or use another file system",
    )


def _subnets(plan: ParallelClusterPlan, facts: AccountFacts) -> list[SubnetFacts]:
    """Return the known subnets of all nodes, including the head node."""
    nodes = (subnet for queue in plan.queues for subnet in queue.subnets)
    names = dict.fromkeys((*plan.head_node.subnets, *nodes))
    return [facts.subnets[name] for name in names if name in facts.subnets]


def _missing(path: str, identifier: str, what: str) -> Problem:
    return Problem(
        path=path,
        found=identifier,
        problem=f"this {what} does not exist in this account and region",
        remedy=f"set the id of an existing {what}, or correct aws:region",
    )


def _doors(
    path: str,
    groups: frozenset[str],
    lets_in: tuple[IngressFacts, ...],
    subnets: list[SubnetFacts],
    facts: AccountFacts,
    ports: tuple[Ports, ...],
) -> Iterator[Problem]:
    """Yield ports that are closed to nodes; existing rules cannot reference new groups."""
    if not groups or not facts.could_read("ec2:DescribeSecurityGroupRules"):
        return
    networks: list[IPv4Network] = [subnet.cidr for subnet in subnets]
    lets_in = tuple(rule for rule in lets_in if rule.peer_group_id is None)
    closed = [each for each in ports if not all(is_open(lets_in, each, net) for net in networks)]
    if closed:
        wanted = ", ".join(described(each) for each in ports)
        first = sorted(groups)[0]
        network = next(n for n in networks if not is_open(lets_in, closed[0], n))
        yield Problem(
            path=path,
            found=", ".join(sorted(groups)),
            problem=(
                "the security groups of the file system do not allow the nodes on TCP "
                + " and ".join(described(each) for each in closed)
                + "; ParallelCluster rejects it"
            ),
            allowed=f"TCP {wanted} from {', '.join(map(str, networks))}",
            remedy=(
                f"aws ec2 authorize-security-group-ingress --group-id {first} --protocol tcp "
                f"--port {described(closed[0])} --cidr {network}, and the same for the others"
            ),
        )
