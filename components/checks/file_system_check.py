"""Account checks of the existing file systems in a stack file."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts, FileSystemFacts
from components.checks.check import NOTHING_FOUND, Subject
from components.checks.open_door import OPEN_PORTS
from components.config.fsx_lustre import ExistingFsxLustre
from components.config.network import ExistingVpc
from components.config.problems import ROOT, Problem
from components.config.stack import StackConfig

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
        if not isinstance(wanted, ExistingFsxLustre):
            continue
        path = f"{STORAGE}.{name}"
        found = facts.file_systems.get(wanted.file_system_id)
        if found is None:
            yield Problem(
                path=f"{path}.file_system_id",
                found=wanted.file_system_id,
                problem="this file system does not exist in this account and region",
                remedy="set the id of an FSx for Lustre file system, or correct aws:region",
            )
            continue
        yield from _existing_problems(path, wanted, found, config)


def file_system_subjects(config: StackConfig) -> Iterator[Subject]:
    """Yield what the checks of file systems ask."""
    for name in config.storage:
        asked = "is or becomes what the stack file says"
        calls = ("fsx:DescribeFileSystems", *OPEN_PORTS)
        yield Subject(f"storage.{name}", asked, NOTHING_FOUND, calls)


def _existing_problems(
    path: str, wanted: ExistingFsxLustre, found: FileSystemFacts, config: StackConfig
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
    network = config.network
    if isinstance(network, ExistingVpc) and found.vpc_id != network.vpc_id:
        yield Problem(
            path=f"{path}.file_system_id",
            found=f"{found.file_system_id}, in {found.vpc_id}",
            problem="this file system is in another VPC, where the nodes cannot reach it",
            allowed=f"a file system in {network.vpc_id}",
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
