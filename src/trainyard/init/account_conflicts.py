"""Options of `init` that the account contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from trainyard.components.account.facts import ReservationFacts
from trainyard.components.account.listing import AccountListing
from trainyard.components.config.problems import Problem
from trainyard.init import offers
from trainyard.init.capacity import pools_of_options
from trainyard.init.design import NEW_VPC, Kind, Request
from trainyard.init.examples import examples
from trainyard.init.option_conflicts import problem

_EFS_CALLS = (
    "elasticfilesystem:DescribeFileSystems",
    "elasticfilesystem:DescribeMountTargets",
)


def account_conflicts(
    request: Request, kind: Kind, listing: AccountListing, now: datetime
) -> list[Problem]:
    """Return every option that the account contradicts."""
    return [
        *_reservations(request, listing, now),
        *_types(request, kind, listing),
        *_vpc(request, kind, listing),
        *_subnets(request, kind, listing),
        *_file_system(request, kind, listing),
        *_key_pair(request, kind, listing),
    ]


def vpc_of_options(request: Request, listing: AccountListing) -> str:
    """Return the VPC that the options give, directly or with subnets; empty if they give none."""
    if request.vpc:
        return request.vpc
    found = (listing.subnets.get(subnet) for subnet in request.subnets)
    return next((subnet.vpc_id for subnet in found if subnet is not None), "")


def operating_system(request: Request, kind: Kind) -> str:
    """Return the operating system of the example that the options name."""
    example = examples().get(request.example)
    if kind != "slurm" or example is None:
        return ""
    found = example.cluster.at("architecture", "operating_system")
    return found.value if found is not None else ""


def _reservations(request: Request, listing: AccountListing, now: datetime) -> Iterator[Problem]:
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


def _other_purchase(request: Request, known: dict[str, ReservationFacts]) -> Iterator[Problem]:
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


def _types(request: Request, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
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


def _vpc(request: Request, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
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


def _subnets(request: Request, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
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


def _file_system(request: Request, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
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
    elif kind != "slurm":
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


def _key_pair(request: Request, kind: Kind, listing: AccountListing) -> Iterator[Problem]:
    if not request.key_pair or listing.denied("ec2:DescribeKeyPairs"):
        return
    usable = offers.usable_keys(listing, operating_system(request, kind))
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
