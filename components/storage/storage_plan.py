"""Plan the file systems in `storage` of a stack file, or record its problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trainyard.components.config.fsx_lustre import ExistingFsxLustre, NewFsxLustre
from trainyard.components.config.review import Review
from trainyard.components.config.storage import FileSystem
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.storage.fsx_lustre_plan import FsxLustrePlan, plan_existing, plan_new
from trainyard.components.storage.subnet_place import given_subnets


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A node group whose subnets decide where a file system is placed."""

    name: str
    subnets: tuple[str, ...]
    """References of the network; several if only the account knows which one."""
    efa: bool
    in_one_zone: bool
    """Whether it launches in one zone, even if the subnet is still unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlace:
    """The surroundings of the file systems of a stack."""

    network: NetworkPlan
    neighbours: Sequence[Neighbour]
    """Node groups for workloads."""
    subnets_known: bool
    """Whether the account was queried, so that unknown values stay unknown."""


def plan_storage(
    storage: Mapping[str, FileSystem],
    place: StoragePlace,
    *,
    tags: Mapping[str, str],
    review: Review,
) -> tuple[FsxLustrePlan, ...]:
    """Return the new and existing file systems of an EKS stack; record problems."""
    planned: list[FsxLustrePlan] = []
    for name, wanted in storage.items():
        _refuse_mount_directory(name, wanted, review)
        if isinstance(wanted, NewFsxLustre):
            if wanted.adopt is not None:
                _refuse_new_vpc(name, f"{wanted.kind} with adopt", place, review)
            subnets = _subnets(name, wanted, place, review)
            _review_efa(name, wanted, place, review)
            planned.append(plan_new(name, wanted, subnets=subnets, tags=tags))
        elif isinstance(wanted, ExistingFsxLustre):
            _review_existing(name, wanted, place, review)
            planned.append(plan_existing(name, wanted))
        else:
            _refuse_kind(name, wanted, review)
    _review_claims(planned, review)
    return tuple(planned)


def _refuse_kind(name: str, wanted: FileSystem, review: Review) -> None:
    reasons = {
        "efs": "NFS is too slow for training data",
        "fsx-openzfs": "it serves home directories, which pods do not have",
        "ebs": "it is a volume of a head node, which EKS does not have; use addons.ebs_csi_driver",
    }
    review.refuse(
        f"storage.{name}.kind",
        f"is not mounted on EKS: {reasons[wanted.kind.removeprefix('existing-')]}",
        found=wanted.kind,
        allowed="fsx-lustre, existing-fsx-lustre",
        remedy=f"use FSx for Lustre, or remove storage.{name}",
    )


def _refuse_mount_directory(name: str, wanted: FileSystem, review: Review) -> None:
    if wanted.mount_directory is not None:
        review.refuse(
            f"storage.{name}.mount_directory",
            (
                "is a directory on the nodes of a ParallelCluster cluster; on EKS each container "
                "sets where it mounts a claim"
            ),
            found=wanted.mount_directory,
            allowed="no mount_directory",
            remedy=review.remove_command(f"storage.{name}.mount_directory"),
        )


def _subnets(
    name: str, wanted: NewFsxLustre, place: StoragePlace, review: Review
) -> tuple[str, ...]:
    given = given_subnets(
        name, wanted, place.network, subnets_known=place.subnets_known, review=review
    )
    return given or _subnets_of_neighbours(name, place, review)


def _subnets_of_neighbours(name: str, place: StoragePlace, review: Review) -> tuple[str, ...]:
    """Return the subnets of node groups with EFA, or of all node groups without EFA."""
    anchors = [group for group in place.neighbours if group.efa] or list(place.neighbours)
    found = tuple(dict.fromkeys(subnet for group in anchors for subnet in group.subnets))
    candidates = found or place.network.private_names
    if len(candidates) == 1:
        return candidates
    open_ = [group.name for group in anchors if group.in_one_zone and len(group.subnets) > 1]
    if open_ and not place.subnets_known:
        review.note(
            f"storage {name}: is in the subnet of node group {', '.join(open_)}, which can only be "
            "read from the account"
        )
        return candidates
    review.refuse(
        f"storage.{name}.subnet_id",
        (
            "is missing, and the node groups do not determine it: a file system is in one subnet, "
            "preferably that of the nodes that read it"
        ),
        allowed=", ".join(candidates),
        remedy=(
            f"set storage.{name}.availability_zone"
            if place.network.is_new
            else review.set_command(
                f"storage.{name}.subnet_id", candidates[0] if candidates else ""
            )
        ),
        rules=("F8",),
    )
    return candidates


def _review_efa(name: str, wanted: NewFsxLustre, place: StoragePlace, review: Review) -> None:
    if wanted.efa_enabled and not any(group.efa for group in place.neighbours):
        review.refuse(
            f"storage.{name}.efa_enabled",
            "is on, but no node group has EFA",
            found=True,
            allowed="false, or a node group with efa_enabled: true",
            remedy=review.set_command(f"storage.{name}.efa_enabled", "false"),
        )


def _review_existing(
    name: str, wanted: ExistingFsxLustre, place: StoragePlace, review: Review
) -> None:
    if _refuse_new_vpc(name, wanted.kind, place, review):
        return
    for key, value in (("dns_name", wanted.dns_name), ("mount_name", wanted.mount_name)):
        if value is None and place.subnets_known:
            review.refuse(
                f"storage.{name}.{key}",
                "is missing, and could not be read from the account",
                remedy=(
                    "allow fsx:DescribeFileSystems, or "
                    + review.set_command(f"storage.{name}.{key}", "VALUE")
                ),
            )


def _refuse_new_vpc(name: str, found: str, place: StoragePlace, review: Review) -> bool:
    """Refuse a file system that exists in a VPC that does not; return whether it is refused."""
    if not place.network.exists:
        review.refuse(
            f"storage.{name}.kind",
            "is an existing file system, which cannot be in a new VPC",
            found=found,
            allowed="fsx-lustre, network.kind: existing-vpc, or network.adopt",
            remedy=(
                "use the VPC of the file system with network.kind: existing-vpc, or create a new "
                "file system"
            ),
        )
    return not place.network.exists


def _review_claims(planned: Sequence[FsxLustrePlan], review: Review) -> None:
    seen: dict[tuple[str, str], str] = {}
    for each in planned:
        claim = (each.claim.namespace, each.claim.name)
        other = seen.setdefault(claim, each.name)
        if other != each.name:
            review.refuse(
                f"storage.{each.name}.claim_name",
                f"is also the claim of storage.{other}, in the same namespace",
                found="/".join(claim),
                allowed="a name that is unique in the namespace",
                remedy=review.set_command(f"storage.{each.name}.claim_name", "NAME"),
            )
