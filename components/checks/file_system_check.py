"""Account checks of the existing file systems in a stack file, and of the way to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from trainyard.components.account.facts import AccountFacts, FileSystemFacts, IngressFacts
from trainyard.components.checks.check import NOTHING_FOUND, Subject
from trainyard.components.config.fsx_lustre import (
    AdoptedFsxLustre,
    ExistingFsxLustre,
    adopted_or_existing,
)
from trainyard.components.config.network import existing_vpc_id
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
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
