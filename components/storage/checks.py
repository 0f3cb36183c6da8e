"""Checks of file systems against the account, and the values that the account fills in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network
from typing import Any

from trainyard.components.account.check import NOTHING_FOUND, Check, Finding, Subject, as_warnings
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.known import Known
from trainyard.components.capacity.launch_place import in_zone, private_subnets
from trainyard.components.config.fsx_lustre import (
    AdoptedFsxLustre,
    ExistingFsxLustre,
    NewFsxLustre,
    adopted_or_existing,
)
from trainyard.components.config.network import existing_vpc_id
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.storage import FileSystem, NewFsxOpenZfs
from trainyard.components.config.storage_fields import FSX_DNS_NAME
from trainyard.components.network.facts import IngressFacts
from trainyard.components.storage.facts import FileSystemFacts
from trainyard.components.tagging import CLUSTER_TAG

OPEN_PORTS = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroupRules")
"""Calls that show whether the security groups of a file system allow the nodes."""

Ports = tuple[int, int]
"""First and last TCP port."""


def described(ports: Ports) -> str:
    """Return a port or port range, for messages."""
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"


def is_open(lets_in: Iterable[IngressFacts], ports: Ports, nodes: IPv4Network) -> bool:
    """Return whether the rules allow all ports from a network."""
    return any(_covers(rule, ports) and _names(rule, nodes) for rule in lets_in)


def _covers(rule: IngressFacts, ports: Ports) -> bool:
    if rule.protocol == "-1":
        return True
    return rule.protocol == "tcp" and rule.first_port <= ports[0] and ports[1] <= rule.last_port


def _names(rule: IngressFacts, nodes: IPv4Network) -> bool:
    # A referenced group may be that of the nodes, which is unknown before they exist.
    return rule.cidr is None or nodes.subnet_of(IPv4Network(rule.cidr))


STORAGE = f"{ROOT}.storage"
USABLE = frozenset({"AVAILABLE", "MISCONFIGURED", "UPDATING"})
"""States in which clients can mount it; a file system that lost its S3 bucket still works.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_FileSystem.html, `Lifecycle`
"""


def file_system_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield problems of existing file systems in the stack file."""
    if not facts.could_read("fsx:DescribeFileSystems"):
        return
    for name, wanted in config.storage.items():
        reference = adopted_or_existing(wanted)
        if reference is None:
            continue
        path = f"{STORAGE}.{name}" + (".adopt" if reference is not wanted else "")
        found = facts.file_systems.get(reference.file_system_id)
        if found is None:
            yield Problem(
                path=f"{path}.file_system_id",
                found=reference.file_system_id,
                problem="this file system does not exist in this account and region",
                remedy="set the id of an FSx for Lustre file system, or correct aws:region",
            )
            continue
        yield from _existing_problems(path, reference, found, config)
        if isinstance(reference, AdoptedFsxLustre):
            yield from _owner_problems(path, found, config)


def file_system_subjects(config: StackConfig) -> Iterator[Subject]:
    """Yield what the checks of file systems ask."""
    for name in config.storage:
        asked = "is or becomes what the stack file says"
        calls = ("fsx:DescribeFileSystems", *OPEN_PORTS)
        yield Subject(f"storage.{name}", asked, NOTHING_FOUND, calls)


def _owner_problems(path: str, found: FileSystemFacts, config: StackConfig) -> Iterator[Problem]:
    """Yield a problem if another stack would go on to change or delete an adopted file system."""
    owner = found.tags.get(CLUSTER_TAG, config.name)
    if owner != config.name:
        yield Problem(
            path=f"{path}.file_system_id",
            found=f"{found.file_system_id}, of the stack {owner}",
            problem="this file system is part of another stack, which can change and delete it",
            allowed="a file system without an owner",
            remedy=(
                "use kind: existing-fsx-lustre, which mounts it and does not own it; if the other "
                f"stack no longer has it, remove its tag {CLUSTER_TAG}"
            ),
        )


def _existing_problems(
    path: str,
    wanted: AdoptedFsxLustre | ExistingFsxLustre,
    found: FileSystemFacts,
    config: StackConfig,
) -> Iterator[Problem]:
    if found.type != "LUSTRE":
        yield Problem(
            path=f"{path}.file_system_id",
            found=f"{found.file_system_id}, {found.type}",
            problem="this is not a Lustre file system; the driver mounts no other type",
            allowed="a file system of type LUSTRE",
            remedy="set the id of an FSx for Lustre file system",
        )
        return
    if found.lifecycle not in USABLE:
        yield Problem(
            path=f"{path}.file_system_id",
            found=f"{found.file_system_id}, {found.lifecycle}",
            problem="this file system cannot be mounted in its current state",
            allowed=", ".join(sorted(USABLE)),
            remedy="wait until it is AVAILABLE, or use another file system",
        )
    vpc_id = existing_vpc_id(config.network)
    if vpc_id is not None and found.vpc_id != vpc_id:
        yield Problem(
            path=f"{path}.file_system_id",
            found=f"{found.file_system_id}, in {found.vpc_id}",
            problem="this file system is in another VPC, where the nodes cannot reach it",
            allowed=f"a file system in {vpc_id}",
            remedy="use a file system in the cluster's VPC",
        )
    group = wanted.security_group_id
    if group is not None and found.security_group_ids and group not in found.security_group_ids:
        yield Problem(
            path=f"{path}.security_group_id",
            found=group,
            problem=(
                "this is not a security group of the file system; rules in it would have no effect"
            ),
            allowed=", ".join(sorted(found.security_group_ids)),
            remedy="set one of these",
        )
    if isinstance(wanted, ExistingFsxLustre):
        yield from _stated_problems(path, wanted, found)


def _stated_problems(
    path: str, wanted: ExistingFsxLustre, found: FileSystemFacts
) -> Iterator[Problem]:
    """Yield names in the stack file that are not those of the file system.

    Nodes mount `DNSName@tcp:/MountName`; another one fails each mount.
    https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html

    A completed entry has the names of the account where the stack file has none. A DNS name that is
    not one of FSx can be an alias of the user, which `stated_warnings` tells.
    """
    is_alias = wanted.dns_name is not None and FSX_DNS_NAME.fullmatch(wanted.dns_name) is None
    for key, stated, real in (
        ("dns_name", wanted.dns_name, "" if is_alias else found.dns_name),
        ("mount_name", wanted.mount_name, found.mount_name),
    ):
        same = stated is None or stated == real or (key == "dns_name" and _same(stated, real))
        if real and not same:
            yield Problem(
                path=f"{path}.{key}",
                found=stated,
                problem=f"{found.file_system_id} has another {key.replace('_', ' ')}, so that no "
                "node could mount it",
                allowed=real,
                remedy=f"set {key} to {real}, or remove it: it is read from the account",
            )


def _same(one: str, other: str) -> bool:
    return one.rstrip(".").lower() == other.rstrip(".").lower()


def stated_warnings(config: StackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield statements about existing file systems that are not theirs, and do not prevent mounts.

    `config` is the original stack file, because completed values come from the account.
    """
    for name, wanted in config.storage.items():
        if not isinstance(wanted, ExistingFsxLustre):
            continue
        found = facts.file_systems.get(wanted.file_system_id)
        if found is None:
            continue
        dns_name, size = wanted.dns_name, wanted.storage_capacity_gib
        if dns_name is not None and FSX_DNS_NAME.fullmatch(dns_name) is None:
            yield (
                f"storage.{name}.dns_name: {dns_name} is no name that FSx gives, so that it is not "
                f"known whether it leads to {found.file_system_id} ({found.dns_name}); remove it "
                "unless it is an alias of your own"
            )
        if found.root_squash not in ("", "0:0"):
            yield (
                f"storage.{name}.file_system_id: {found.file_system_id} maps root of its clients "
                f"to {found.root_squash} (root squash), so that containers that run as root may "
                "not write: let them run as another user, or change it with `aws fsx "
                f"update-file-system --file-system-id {found.file_system_id} "
                "--lustre-configuration RootSquashConfiguration={RootSquash=0:0}`"
            )
        if size is not None and found.capacity_gib and size != found.capacity_gib:
            yield (
                f"storage.{name}.storage_capacity_gib: {found.file_system_id} has "
                f"{found.capacity_gib} GiB, not {size}; the PersistentVolume would show {size}. "
                "Remove it: it is read from the account"
            )


def complete_storage(
    config: StackConfig, facts: AccountFacts, *, places_file_systems: bool
) -> dict[str, FileSystem]:
    """Return the file systems, with subnets of new and names of existing ones, by name.

    Values in the stack file are not changed, and unknown values are not filled in. If the program
    does not place file systems, ParallelCluster reads the names itself and creates Lustre in the
    subnet of its queues.
    """
    completed: dict[str, FileSystem] = {}
    for name, wanted in config.storage.items():
        if isinstance(wanted, ExistingFsxLustre) and places_file_systems:
            completed[name] = _with_names(wanted, facts)
        elif isinstance(wanted, NewFsxOpenZfs) or (
            isinstance(wanted, NewFsxLustre) and places_file_systems
        ):
            completed[name] = _with_subnet(wanted, config, facts)
        else:
            completed[name] = wanted
    return completed


def _with_names(wanted: ExistingFsxLustre, facts: AccountFacts) -> ExistingFsxLustre:
    found = facts.file_systems.get(wanted.file_system_id)
    if found is None:
        return wanted
    return wanted.model_copy(
        update={
            "dns_name": wanted.dns_name or found.dns_name or None,
            "mount_name": wanted.mount_name or found.mount_name or None,
            "storage_capacity_gib": wanted.storage_capacity_gib or found.capacity_gib or None,
        }
    )


def _with_subnet(
    wanted: NewFsxLustre | NewFsxOpenZfs, config: StackConfig, facts: AccountFacts
) -> FileSystem:
    reference = adopted_or_existing(wanted)
    adopted = facts.file_systems.get(reference.file_system_id) if reference else None
    if adopted is not None and wanted.subnet_id is None:
        return wanted.model_copy(update={"subnet_id": adopted.subnet_id, "availability_zone": None})
    zone = wanted.availability_zone
    if zone is None:
        return wanted
    # The first in the order of the stack file, because a choice by free addresses would change.
    subnet = next((s for s in private_subnets(config, facts) if in_zone(s, zone)), None)
    if subnet is None:
        return wanted
    return wanted.model_copy(update={"subnet_id": subnet.subnet_id, "availability_zone": None})


_TOO_OLD = frozenset({"2.10"})
"""Versions that refuse the Lustre client 2.15, which nodes have."""


def old_version_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield existing Lustre file systems that nodes cannot mount, because they are too old.

    The management server of 2.10 refuses the client 2.15 of Amazon Linux 2023 and of Ubuntu since
    22.04: "Server MGS version (2.10.5.0) refused connection from this client with an incompatible
    version", which `mount` shows as "Invalid argument". 2.10 is what FSx makes of Scratch and
    Persistent_1 file systems by default.

    Sources:
        https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html,
        `FileSystemTypeVersion`
        https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html,
        `FileSystemTypeVersion`: 2.12 and 2.15, newer than the current one
        https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-lustre-version.html
        https://github.com/amazonlinux/amazon-linux-2023/issues/723
        https://github.com/kubernetes-sigs/aws-fsx-csi-driver/issues/437
    """
    for name, wanted in config.storage.items():
        reference = adopted_or_existing(wanted)
        found = facts.file_systems.get(reference.file_system_id) if reference else None
        if found is not None and found.version in _TOO_OLD:
            path = f"{STORAGE}.{name}" + (".adopt" if reference is not wanted else "")
            yield Problem(
                path=f"{path}.file_system_id",
                found=f"{found.file_system_id}, Lustre {found.version}",
                problem=(
                    "the Lustre client 2.15 of the nodes cannot mount a file system of this "
                    "version (`mount` fails with `Invalid argument`)"
                ),
                allowed="a file system of Lustre 2.12 or 2.15",
                remedy=(
                    "back it up, and upgrade it: `aws fsx update-file-system --file-system-id "
                    f"{found.file_system_id} --file-system-type-version 2.15`"
                ),
            )


def file_system_checks(known: Known[Any, Any]) -> Iterator[Finding]:
    """Yield the check of the file systems that the stack file names or the stack created.

    A stack that is up has a warning about an old one: its nodes may have another client.
    """
    old = tuple(old_version_problems(known.config, known.facts))
    problems = [*file_system_problems(known.config, known.facts), *(() if known.is_up else old)]
    yield Check("file systems", problems, file_system_subjects(known.config))
    if known.is_up:
        yield from as_warnings(old)
    yield from stated_warnings(known.given, known.facts)
