"""Options of `init` that contradict each other, or the account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.catalog.instance_types import UnknownInstanceTypeError, instance_type
from trainyard.components.catalog.regions import can_be_region, nearest_region
from trainyard.components.config.base import ClusterName, ReservationId, SubnetId, VpcId
from trainyard.components.config.problems import Problem
from trainyard.components.config.storage_fields import FsxId
from trainyard.init import offers
from trainyard.init.account_listing import AccountListing
from trainyard.init.api_access import OPTION, network_problems
from trainyard.init.capacity import pools_of_options
from trainyard.init.design import KINDS, LUSTRE_RULE, NEW_VPC, InitRequest, Kind, KindFacts
from trainyard.init.examples import examples

SANDBOX_REGION = "us-west-2"
"""Region of the sandbox's account (`sandbox/account/fixture.yaml`)."""


def option_conflicts(request: InitRequest) -> list[Problem]:
    """Return every problem of the options that needs no account."""
    return [
        *_name(request),
        *_example(request),
        *_region(request),
        *_ids(request),
        *_types(request),
        *_storage(request),
        *_network_kind(request),
        *_api_networks(request),
    ]


def unread_conflicts(request: InitRequest) -> list[Problem]:
    """Return the options whose meaning depends on the account, which was not read."""
    log_in = "log in to the account, or add --sandbox"
    later = f"{log_in}; or remove it, and set the key in the stack file"
    kinds = f"{log_in}; or add `--from` with a shipped stack for a reservation of its kind"
    unknown = "" if request.example else ", ".join(request.reservations)
    given = (
        ("--subnet", ", ".join(request.subnets), "tells public from private subnets", later),
        ("--file-system", request.file_system, "tells FSx for Lustre from EFS", later),
        ("--reservation", unknown, "tells a Capacity Block from an ODCR", kinds),
    )
    return [
        problem(option, f"needs the account, which {why}", fix, found=value)
        for option, value, why, fix in given
        if value
    ]


def kind_of(request: InitRequest) -> str:
    """Return the kind that the options give; empty if they give none."""
    example = examples().get(request.example)
    return example.kind if example is not None else request.kind


def _facts(request: InitRequest) -> KindFacts | None:
    """Return what holds for that kind; None if it is not known, or does not exist."""
    return KINDS.get(kind_of(request))


def problem(option: str, why: str, fix: str, **details: Any) -> Problem:
    """Return a problem of one option."""
    return Problem(path=option, problem=why, remedy=fix, **details)


def _name(request: InitRequest) -> Iterator[Problem]:
    if _fault(ClusterName, request.name):
        yield problem(
            "NAME",
            "is not a name for a cluster: it is also the name of the cluster and of its resources",
            "use at most 100 letters, digits, `-` and `_`, beginning with a letter or a digit",
            found=request.name,
        )
    elif request.name in examples():
        yield problem(
            "NAME",
            "is the name of a shipped stack",
            f"use another name, and `--from {request.name}` to begin with that stack",
            found=request.name,
        )


def _example(request: InitRequest) -> Iterator[Problem]:
    if request.kind and request.kind not in KINDS:
        yield problem(
            "--kind",
            "is not a kind of stack",
            "use one of these",
            found=request.kind,
            allowed=", ".join(KINDS),
        )
    if not request.example:
        return
    example = examples().get(request.example)
    if example is None:
        yield problem(
            "--from",
            "is not a shipped stack",
            "use one of these",
            found=request.example,
            allowed=", ".join(examples()),
        )
    elif request.kind and request.kind != example.kind:
        yield problem(
            "--kind",
            f"contradicts `--from {request.example}`, which is of kind {example.kind}",
            f"remove `--kind`, or use an example of kind {request.kind}",
            found=request.kind,
        )


def _region(request: InitRequest) -> Iterator[Problem]:
    if request.region and not can_be_region(request.region):
        near = nearest_region(request.region)
        yield problem(
            "--region",
            "is not an AWS region",
            f"use {near}" if near else "use the name of a region, such as us-west-2",
            found=request.region,
        )
    elif request.sandbox and request.region not in ("", SANDBOX_REGION):
        yield problem(
            "--region",
            "contradicts `--sandbox`, whose account is in one region",
            f"use {SANDBOX_REGION}, or remove `--sandbox`",
            found=request.region,
        )
    if request.sandbox and request.profile:
        yield problem(
            "--profile",
            "contradicts `--sandbox`, which uses no credentials",
            "remove one of the two",
            found=request.profile,
        )


def _ids(request: InitRequest) -> Iterator[Problem]:
    forms: list[tuple[str, Any, tuple[str, ...]]] = [
        ("--vpc", VpcId, (request.vpc,) if request.vpc not in ("", NEW_VPC) else ()),
        ("--subnet", SubnetId, request.subnets),
        ("--reservation", ReservationId, request.reservations),
        ("--file-system", FsxId, (request.file_system,) if request.file_system else ()),
    ]
    for option, form, values in forms:
        for value in values:
            fault = _fault(form, value)
            if fault:
                yield problem(option, fault, "copy the id from the AWS console or CLI", found=value)
        for value in sorted({each for each in values if values.count(each) > 1}):
            yield problem(option, "is given twice", "remove the second one", found=value)


def _fault(form: Any, value: str) -> str:
    try:
        TypeAdapter[str](form).validate_python(value)
    except ValidationError as error:
        return re.sub(r"^Value error, ", "", error.errors()[0]["msg"])
    return ""


def _types(request: InitRequest) -> Iterator[Problem]:
    for name in request.instance_types:
        try:
            instance_type(name)
        except UnknownInstanceTypeError as error:
            yield problem(
                "--instance-type",
                "is not an instance type in the catalog, so the program cannot plan nodes",
                "use a type of the catalog",
                found=name,
                allowed=f"nearest: {', '.join(error.nearest)}" if error.nearest else None,
            )
    for nodes in request.nodes:
        if nodes < 1:
            yield problem("--nodes", "is less than one", "use 1 or more", found=nodes)


def _storage(request: InitRequest) -> Iterator[Problem]:
    given = [
        name
        for name, value in (
            ("--file-system", request.file_system),
            ("--lustre-gib", request.lustre_gib),
        )
        if value
    ]
    if len(given) > 1:
        yield problem(
            " and ".join(given),
            "contradict each other: one is an existing file system, the other a new one",
            "remove one of the two",
        )
    kind = _facts(request)
    if kind is not None and kind.pools and not kind.file_systems:
        for name in given:
            yield problem(
                name,
                "cannot be used: AWS Batch stacks mount no file system",
                "remove it; jobs reach S3, and an EFS or FSx file system from their image",
            )
    size = request.lustre_gib
    if size is not None and not LUSTRE_RULE.allows(size):
        yield problem(
            "--lustre-gib",
            "is not a capacity of FSx for Lustre, which scales by whole file servers",
            f"use {LUSTRE_RULE.nearest(size)}",
            found=size,
            allowed=str(LUSTRE_RULE),
        )
    if request.file_system and request.vpc == NEW_VPC:
        yield problem(
            "--file-system",
            "contradicts `--vpc new`: nodes cannot reach an existing file system from a new VPC",
            "use the VPC of the file system, or `--lustre-gib` for a new file system",
            found=request.file_system,
        )


def _api_networks(request: InitRequest) -> Iterator[Problem]:
    kind = _facts(request)
    if request.api_networks and kind is not None and not kind.has_api:
        yield problem(
            OPTION,
            "cannot be used: only an EKS cluster has a Kubernetes API",
            "remove it",
            found=", ".join(request.api_networks),
        )
    else:
        yield from network_problems(request.api_networks)


def _network_kind(request: InitRequest) -> Iterator[Problem]:
    if request.vpc == NEW_VPC and request.subnets:
        yield problem(
            "--subnet",
            "contradicts `--vpc new`: a new VPC gets its own subnets",
            "remove one of the two",
            found=", ".join(request.subnets),
        )
    kind = _facts(request)
    if kind is None or kind.pools:
        return
    given = {
        "--vpc": request.vpc not in ("", NEW_VPC),
        "--subnet": request.subnets,
        "--reservation": request.reservations,
        "--instance-type": request.instance_types,
        "--nodes": request.nodes,
        "--key-pair": request.key_pair,
        "--file-system": request.file_system,
        "--lustre-gib": request.lustre_gib is not None,
    }
    for option, value in given.items():
        if value:
            yield problem(
                option,
                "cannot be used: a network stack is a new VPC without nodes",
                "remove it, and give it to the stack whose nodes are in this network",
            )


_EFS_CALLS = (
    "elasticfilesystem:DescribeFileSystems",
    "elasticfilesystem:DescribeMountTargets",
)


def account_conflicts(
    request: InitRequest, kind: Kind, listing: AccountListing, now: datetime
) -> list[Problem]:
    """Return every option that the account contradicts."""
    return [
        *_reservations(request, listing, now),
        *_types_in_account(request, kind, listing),
        *_vpc(request, kind, listing),
        *_subnets(request, kind, listing),
        *_file_system(request, kind, listing),
        *_key_pair(request, kind, listing),
    ]


def vpc_of_options(request: InitRequest, listing: AccountListing) -> str:
    """Return the VPC that the options give, directly or with subnets; empty if they give none."""
    if request.vpc:
        return request.vpc
    found = (listing.subnets.get(subnet) for subnet in request.subnets)
    return next((subnet.vpc_id for subnet in found if subnet is not None), "")


def operating_system(request: InitRequest) -> str:
    """Return the operating system of the example that the options name, if that has one for all."""
    example = examples().get(request.example)
    found = example.cluster.at("architecture", "operating_system") if example else None
    return found.value if found is not None else ""


def _reservations(
    request: InitRequest, listing: AccountListing, now: datetime
) -> Iterator[Problem]:
    known = {each.reservation_id: each for each in listing.reservations}
    for index, reservation_id in enumerate(request.reservations):
        found = known.get(reservation_id)
        if found is None:
            yield problem(
                "--reservation",
                f"does not exist in this account in {listing.region}",
                "copy the id from `aws ec2 describe-capacity-reservations`, or correct `--region`; "
                "the share of another account's reservation must be accepted first (AWS RAM)",
                found=reservation_id,
            )
            continue
        fault = offers.unusable(found, now)
        if fault is not None:
            yield problem(
                "--reservation",
                f"cannot be used: {fault}",
                "use another reservation",
                found=reservation_id,
            )
        yield from _too_many_nodes(request.nodes_at(index), found)
    yield from _other_purchase(request, known)


def _too_many_nodes(nodes: int | None, found: ReservationFacts) -> Iterator[Problem]:
    held = found.known_count
    if nodes is not None and held is not None and nodes > held:
        yield problem(
            "--nodes",
            f"is more than {found.reservation_id} has; the additional nodes would never launch",
            f"use at most {held}",
            found=nodes,
        )


def _other_purchase(request: InitRequest, known: dict[str, ReservationFacts]) -> Iterator[Problem]:
    example = examples().get(request.example)
    given = [known[each] for each in request.reservations if each in known]
    if example is None or not given or not example.pools:
        return
    kinds = {pool.purchase for pool in example.pools} - {"on-demand"}
    if kinds and not kinds & {each.kind for each in given}:
        yield problem(
            "--from",
            f"is an example for {', '.join(sorted(kinds))}, but "
            f"{', '.join(each.reservation_id for each in given)} is {given[0].kind}",
            f"use `--kind {example.kind}` instead, which selects the example that fits",
            found=request.example,
        )


def _types_in_account(
    request: InitRequest, kind: Kind, listing: AccountListing
) -> Iterator[Problem]:
    reserved = {
        each.instance_type
        for each in listing.reservations
        if each.reservation_id in request.reservations
    }
    for name in request.instance_types:
        if name not in reserved and not offers.offering_zones(listing, name, kind):
            yield problem(
                "--instance-type",
                f"is not offered in any zone of {listing.region} that the stack can use",
                "use another type, or another region",
                found=name,
            )


def _vpc(request: InitRequest, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
    vpc_id = vpc_of_options(request, listing)
    if vpc_id in ("", NEW_VPC):
        return
    if vpc_id not in listing.vpcs:
        yield problem(
            "--vpc",
            f"does not exist in this account in {listing.region}",
            "use one of these, `new` for a new VPC, or correct `--region`",
            found=vpc_id,
            allowed=", ".join(sorted(listing.vpcs)) or "new",
        )
        return
    pools = pools_of_options(request, listing)
    for fault in offers.vpc_faults(listing, vpc_id, kind=kind, pools=pools):
        yield problem(
            "--vpc",
            fault,
            "use another VPC, or `--vpc new` for a new one",
            found=vpc_id,
            allowed=", ".join(offers.usable_vpcs(listing, kind, pools)) or None,
        )


def _subnets(request: InitRequest, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
    vpc_id = vpc_of_options(request, listing)
    zones: set[str] = set()
    for subnet_id in request.subnets:
        found = listing.subnets.get(subnet_id)
        if found is None:
            yield problem(
                "--subnet",
                f"does not exist in this account in {listing.region}",
                "use a subnet of the VPC, or correct `--region`",
                found=subnet_id,
            )
        elif found.vpc_id != vpc_id:
            yield problem(
                "--subnet",
                f"is in {found.vpc_id}, not in {vpc_id}",
                "use subnets of one VPC",
                found=subnet_id,
            )
        elif found.default_route != "internet-gateway":
            zones.add(found.availability_zone)
    if not request.subnets or vpc_id not in listing.vpcs:
        return
    for fault in offers.pool_faults(listing, zones, pools_of_options(request, listing), kind=kind):
        yield problem(
            "--subnet",
            fault,
            "add a private subnet in that zone, or remove `--subnet`: `init` then chooses them",
            found=", ".join(request.subnets),
        )


def _file_system(request: InitRequest, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
    wanted, vpc_id = request.file_system, vpc_of_options(request, listing)
    if not wanted:
        return
    fsx = next((each for each in listing.fsx if each.file_system_id == wanted), None)
    efs = next((each for each in listing.efs if each.file_system_id == wanted), None)
    fault = None
    if fsx is not None:
        fault = offers.lustre_fault(fsx, vpc_id or fsx.vpc_id)
    elif efs is None:
        denied = listing.denied("fsx:DescribeFileSystems", *_EFS_CALLS)
        unread = f"it cannot be read: AWS denies {'; '.join(denied)}"
        missing = f"it does not exist in this account in {listing.region}"
        fault = unread if denied else missing
    elif "existing-efs" not in KINDS[kind].file_systems:
        fault = "it is an EFS file system, which only Slurm clusters mount"
    elif vpc_id and vpc_id not in {target.vpc_id for target in efs.targets}:
        fault = f"it has no mount target in {vpc_id}"
    if fault is not None:
        reachable = offers.mountable(listing, vpc_id, kind) if vpc_id else {}
        yield problem(
            "--file-system",
            f"cannot be used: {fault}",
            "use another file system, or `--lustre-gib` for a new one",
            found=wanted,
            allowed=", ".join(reachable) or None,
        )


def _key_pair(request: InitRequest, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
    if not request.key_pair or listing.denied("ec2:DescribeKeyPairs"):
        return
    usable = offers.usable_keys(listing, operating_system(request))
    if request.key_pair in usable:
        return
    exists = request.key_pair in listing.key_pairs
    yield problem(
        "--key-pair",
        "is an RSA key, which the operating system does not accept"
        if exists
        else f"does not exist in {listing.region}",
        "use another key pair, or remove the option: Session Manager needs none",
        found=request.key_pair,
        allowed=", ".join(usable) or None,
    )
