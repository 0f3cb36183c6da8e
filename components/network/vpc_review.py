"""Checks of the addresses and zones of a new VPC, for all architectures.

Source of the limits: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
"""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

from trainyard.components.capacity.pool_review import is_foreign_zone
from trainyard.components.config.network import NewVpc
from trainyard.components.config.review import Review
from trainyard.components.network.address_plan import (
    TEMPLATE_CIDR,
    AddressPlan,
    gives_all_addresses,
    most_zones,
    plan_addresses,
)
from trainyard.components.network.cidr_review import review_ranges
from trainyard.components.network.vpc_adoption_review import review_adoption

LARGEST_PREFIX, SMALLEST_PREFIX = 16, 28
"""Prefix lengths that EC2 allows for the CIDR blocks of VPCs and subnets."""
MOST_SECONDARY_CIDRS = 4
"""The default quota of five CIDR blocks per VPC, without the primary one; adjustable."""


def review_new_vpc(network: NewVpc, region: str, review: Review) -> None:
    """Record every problem of the zones and addresses of a new VPC."""
    _review_zones(network, region, review)
    _review_ways_out(network, review)
    _review_lists(network, review)
    _review_template_cidr(network, review)
    addresses = plan_addresses(network)
    if _review_blocks(network, addresses, review):
        _review_subnets(network, addresses, review)
    review_adoption(network, review)


def _review_zones(network: NewVpc, region: str, review: Review) -> None:
    zones, key = network.availability_zones, "network.availability_zones"
    repeated = sorted({zone for zone in zones if zones.count(zone) > 1})
    if repeated:
        review.refuse(
            key,
            "lists a zone twice",
            found=", ".join(repeated),
            remedy="remove the second one",
        )
    foreign = [zone for zone in zones if is_foreign_zone(zone, region)]
    if foreign:
        review.refuse(
            key,
            f"has zones that are not in the stack's region, {region}",
            found=", ".join(foreign),
            allowed=f"zones in {region}",
            remedy="change the zones, or `aws:region`",
        )
    most = most_zones(network)
    if most is not None and len(zones) > most:
        review.refuse(
            key,
            f"has more zones than the addresses of `{network.addresses}` support",
            found=len(zones),
            allowed=f"at most {most}, or `public_subnet_cidrs` and `private_subnet_cidrs` for each",
            remedy="set both lists, or use fewer zones",
        )


def _review_ways_out(network: NewVpc, review: Review) -> None:
    if network.public_subnets:
        return
    if network.nat_gateways != "none":
        review.refuse(
            "network.nat_gateways",
            "needs a public subnet, but `public_subnets` is false",
            found=network.nat_gateways,
            allowed="none, or `public_subnets: true`",
            remedy=(
                f"{review.set_command('network.nat_gateways', 'none')}, or "
                f"{review.set_command('network.public_subnets', 'true')}"
            ),
        )
    if network.public_subnet_cidrs:
        review.refuse(
            "network.public_subnet_cidrs",
            "sets addresses of public subnets, but `public_subnets` is false",
            found=", ".join(network.public_subnet_cidrs),
            allowed="no such key, or `public_subnets: true`",
            remedy=review.remove_command("network.public_subnet_cidrs"),
        )


def _review_lists(network: NewVpc, review: Review) -> None:
    zones = len(network.availability_zones)
    for name in ("public_subnet_cidrs", "private_subnet_cidrs"):
        given: tuple[str, ...] = getattr(network, name)
        if given and len(given) != zones:
            review.refuse(
                f"network.{name}",
                "does not have one CIDR block for each of `availability_zones`",
                found=f"{len(given)} for {zones} zones",
                allowed=f"{zones} CIDR blocks, in the order of the zones",
                remedy="add or remove CIDR blocks, or remove the key to use those of `addresses`",
            )


def _review_template_cidr(network: NewVpc, review: Review) -> None:
    own = gives_all_addresses(network)
    if network.addresses == "eksctl" or own or network.cidr in (None, TEMPLATE_CIDR):
        return
    review.refuse(
        "network.cidr",
        f"is not the CIDR block of the template `{network.addresses}`, whose subnets are fixed",
        found=network.cidr,
        allowed=f"{TEMPLATE_CIDR}, or your own `public_subnet_cidrs` and `private_subnet_cidrs`",
        remedy=review.set_command("network.addresses", "eksctl"),
    )


def _review_blocks(network: NewVpc, addresses: AddressPlan, review: Review) -> bool:
    """Return whether the CIDR blocks of the VPC are valid enough to check the subnets."""
    sound = True
    blocks = [("network.cidr", addresses.cidr)]
    blocks += [
        (f"network.secondary_cidrs[{index}]", cidr)
        for index, cidr in enumerate(network.secondary_cidrs)
    ]
    for key, cidr in blocks:
        if not LARGEST_PREFIX <= IPv4Network(cidr).prefixlen <= SMALLEST_PREFIX:
            sound = False
            review.refuse(
                key,
                "is not a size that EC2 allows for a CIDR block of a VPC",
                found=cidr,
                allowed=f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX}",
                remedy=review.set_command(key, f"{IPv4Network(cidr).network_address}/16"),
            )
    review_ranges(blocks, review)
    for (_, one), (key, other) in combinations(blocks, 2):
        if IPv4Network(one).overlaps(IPv4Network(other)):
            review.refuse(
                key,
                f"overlaps another CIDR block of the VPC, {one}",
                found=other,
                remedy="remove it, or use a CIDR block that does not overlap",
            )
    if len(addresses.secondary_cidrs) > MOST_SECONDARY_CIDRS:
        review.refuse(
            "network.secondary_cidrs",
            "has more CIDR blocks than a VPC can have",
            found=len(addresses.secondary_cidrs),
            allowed=f"at most {MOST_SECONDARY_CIDRS} in addition to `cidr`",
            remedy="remove CIDR blocks, or use larger ones",
        )
    return sound


def _review_subnets(network: NewVpc, addresses: AddressPlan, review: Review) -> None:
    subnets = [
        *_keyed("public", network.public_subnet_cidrs, addresses.public),
        *_keyed("private", network.private_subnet_cidrs, addresses.private),
    ]
    blocks = [IPv4Network(cidr) for cidr in addresses.blocks]
    if not subnets:
        _refuse_small_vpc(addresses, review)
    for key, cidr in subnets:
        subnet = IPv4Network(cidr)
        if subnet.prefixlen > SMALLEST_PREFIX:
            _refuse_small_subnet(key, cidr, addresses, review)
        elif not any(subnet.subnet_of(block) for block in blocks):
            review.refuse(
                key,
                "is outside of the CIDR blocks of the VPC",
                found=cidr,
                allowed=f"within {', '.join(addresses.blocks)}",
                remedy=(
                    "change it, or add a CIDR block that contains it to `network.secondary_cidrs`"
                ),
            )
    _review_overlaps(subnets, review)


def _keyed(kind: str, given: tuple[str, ...], planned: tuple[str, ...]) -> list[tuple[str, str]]:
    name = f"network.{kind}_subnet_cidrs"
    return [(f"{name}[{index}]" if given else name, cidr) for index, cidr in enumerate(planned)]


def _refuse_small_vpc(addresses: AddressPlan, review: Review) -> None:
    review.refuse(
        "network.cidr",
        "is too small: an eighth of it is less than the smallest subnet",
        found=addresses.cidr,
        allowed=f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX - 3}",
        remedy=review.set_command(
            "network.cidr", f"{IPv4Network(addresses.cidr).network_address}/{LARGEST_PREFIX}"
        ),
    )


def _refuse_small_subnet(key: str, cidr: str, addresses: AddressPlan, review: Review) -> None:
    if not key.endswith("]"):
        # From the plan, not the stack file, because the VPC is what the user can change.
        if not any(problem.path.endswith("network.cidr") for problem in review.problems):
            _refuse_small_vpc(addresses, review)
        return
    review.refuse(
        key,
        "is smaller than the smallest subnet that EC2 supports",
        found=cidr,
        allowed=f"/{LARGEST_PREFIX} to /{SMALLEST_PREFIX}",
        remedy="use a larger CIDR block",
    )


def _review_overlaps(subnets: list[tuple[str, str]], review: Review) -> None:
    met: set[str] = set()
    for (_, one), (key, other) in combinations(subnets, 2):
        if key not in met and IPv4Network(one).overlaps(IPv4Network(other)):
            met.add(key)
            review.refuse(
                key,
                f"overlaps another subnet, {one}",
                found=other,
                remedy="use a separate CIDR block for each subnet",
            )
