"""Account checks of node pools: zones, offerings, addresses and images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.image_registry import is_public, look_up_public_images
from trainyard.components.account.launch_place import private_subnets, zone_without_subnet
from trainyard.components.account.lookup import AccountReader, newest_image
from trainyard.components.account.readings import Reading
from trainyard.components.account.reservations import found_reservations
from trainyard.components.catalog.instance_types import Architecture
from trainyard.components.checks.check import NOTHING_FOUND, Subject
from trainyard.components.checks.used_image import UsedImage
from trainyard.components.compute.node_pool_plan import ImageSource, NodePoolPlan
from trainyard.components.config.node_pool import Pool
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.address_capacity import AddressNeed
from trainyard.components.network.network_plan import NetworkPlan

# Checks that the public container images of a stack can be pulled by its nodes.
#
# A tag that does not exist shows as `ImagePullBackOff` on nodes that cost money. A registry that
# does not answer refuses nothing: this machine can be behind a proxy, or without a way to the
# internet.


def public_image_readings(reader: AccountReader, used: Iterable[UsedImage]) -> Iterator[Reading]:
    """Yield the reading of all public images, each of which is looked up once."""
    architectures: dict[str, set[Architecture]] = {}
    for each in used:
        if is_public(each.image):
            architectures.setdefault(each.image, set()).update(each.architectures)
    if architectures:
        yield lambda: {"public_images": _look_up_images(reader, architectures)}


def _look_up_images(
    reader: AccountReader, architectures: Mapping[str, set[Architecture]]
) -> Mapping[str, Any]:
    found = look_up_public_images(architectures)
    reader.unreadable += [
        f"{image}: {facts.unknown}" for image, facts in found.items() if facts.unknown is not None
    ]
    return found


def public_image_subjects(used: Iterable[UsedImage], facts: AccountFacts) -> Iterator[Subject]:
    """Yield what `public_image_problems` checks."""
    for each in used:
        if each.image in facts.public_images:
            yield Subject(each.key, f"the image of {each.user} exists", each.image, (each.image,))


def public_image_problems(used: Iterable[UsedImage], facts: AccountFacts) -> Iterator[Problem]:
    """Yield the images that nodes could not pull."""
    for each in used:
        found = facts.public_images.get(each.image)
        if found is not None and found.missing is not None:
            yield Problem(
                path=f"{ROOT}.{each.key}",
                found=each.image,
                problem=(
                    f"its registry does not have the image of {each.user} ({found.missing}); no "
                    "node could pull it"
                ),
                remedy=each.remedy,
            )


# Checks that the region has the AMIs of the nodes that the program looks up.
#
# The program reads the id of a self-managed EKS node group from SSM; EKS, AWS Batch and
# ParallelCluster find the AMIs of their nodes themselves, by a release or a name that leads to the
# same AMI. Without it, they fail when the nodes launch.
#
# Sources:
#     https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
#     https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
#     https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.list-official-images-v3.html


GET_PARAMETER = "ssm:GetParameter"
DESCRIBE_IMAGES = "ec2:DescribeImages"


def pool_image_readings(reader: AccountReader, pools: Iterable[NodePoolPlan]) -> Iterator[Reading]:
    """Yield a reading for each parameter and each name that leads to an AMI."""
    for source in dict.fromkeys(pool.image for pool in pools):
        if source.image_id is None:
            yield lambda source=source: {"pool_image_ids": _look_up(reader, source)}


def _look_up(reader: AccountReader, source: ImageSource) -> Mapping[str, str | None]:
    if source.name is not None:
        image = newest_image(reader, source.name)
        return {str(source): image.image_id if image else None}
    answer = reader.ask(GET_PARAMETER, reader.client("ssm").get_parameter, Name=source.parameter)
    return {str(source): answer["Parameter"]["Value"] if answer else None}


def pool_image_subjects(pools: Iterable[NodePoolPlan], facts: AccountFacts) -> Iterator[Subject]:
    """Yield what `pool_image_problems` checks."""
    for pool in pools:
        if pool.image.image_id is None:
            found = facts.pool_image_ids.get(str(pool.image)) or _looked_up(pool)
            yield Subject(pool.key, "the region has the AMI of the nodes", found, (_call(pool),))


def pool_image_problems(
    pools: Iterable[NodePoolPlan], facts: AccountFacts, *, region: str, remedy: str
) -> Iterator[Problem]:
    """Yield the pools whose AMI does not exist in the region."""
    for pool in pools:
        source = pool.image
        if facts.pool_image_ids.get(str(source), source) is not None:
            continue  # found, not looked up, or an id in the stack file
        if not facts.could_read(_call(pool)):
            continue
        what = "public SSM parameter" if source.parameter else "AMI of Amazon by this name"
        yield Problem(
            path=f"{ROOT}.{pool.key}",
            found=_looked_up(pool),
            problem=f"{region} has no {what}, so no {pool.instance_type.name} could launch",
            remedy=remedy,
        )


def _looked_up(pool: NodePoolPlan) -> str:
    return pool.image.parameter or f"{pool.image.name}*"


def _call(pool: NodePoolPlan) -> str:
    return GET_PARAMETER if pool.image.parameter else DESCRIBE_IMAGES


ADDRESSES = Subject(
    "network",
    "the subnets have enough addresses for all nodes",
    NOTHING_FOUND,
    ("ec2:DescribeSubnets",),
)
"""What `address_problems` checks."""


def pool_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield pools whose zone has no subnet or does not offer their instance type."""
    for pool in config.pools():
        for subnet_id in pool.subnet_ids:
            yield from offering_problems(
                f"{ROOT}.{pool.key}.instance_type", pool.instance_type, subnet_id, facts
            )
    missing: dict[str, list[Pool]] = {}
    for pool in config.pools():
        zone = zone_without_subnet(pool, config, facts)
        if zone is not None:
            missing.setdefault(zone, []).append(pool)
    for zone, without in missing.items():
        yield _no_subnet(without, zone, config, facts)


def _no_subnet(without: list[Pool], zone: str, config: StackConfig, facts: AccountFacts) -> Problem:
    zones = {f"{s.availability_zone} ({s.zone_id})" for s in private_subnets(config, facts)}
    options = {pool.purchase_option for pool in without} & config.reservations.keys()
    found = [found_reservations(config.reservations[name], facts) for name in sorted(options)]
    ids = [each.reservation_id for reservations in found for each in reservations]
    whose = f", the zone of {', '.join(ids)}" if ids else ""
    return Problem(
        path=f"{ROOT}.network.private_subnet_ids",
        found=f"private subnets in {', '.join(sorted(zones))}",
        problem=(
            f"{config.architecture.POOL_NOUN} {', '.join(pool.name for pool in without)} must "
            f"launch in {zone}{whose}, which has no private subnet"
        ),
        remedy=f"add a private subnet in {zone} to private_subnet_ids, or choose another zone",
    )


def offering_problems(
    path: str, instance_type: str, subnet_id: str, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield problems of an instance type in the zone of an existing subnet."""
    if not facts.could_read("ec2:DescribeInstanceTypeOfferings"):
        return
    offered = facts.offered_zone_ids.get(instance_type)
    subnet = facts.subnets.get(subnet_id)
    if offered is not None and subnet is not None and subnet.zone_id not in offered:
        yield Problem(
            path=path,
            found=f"{instance_type} in {subnet.availability_zone} ({subnet.zone_id})",
            problem="EC2 does not offer this type in this zone",
            allowed=f"zones {', '.join(sorted(offered)) or 'of another region'}",
            remedy="use a subnet in one of these zones, or another instance type",
        )


def address_problems(
    needs: Mapping[str, AddressNeed],
    network: NetworkPlan,
    facts: AccountFacts,
    *,
    takers: str,
    remedy: str,
) -> Iterator[Problem]:
    """Yield subnets that are too small for the plan.

    The check uses the size of the subnet, not its free addresses: the nodes of the cluster use
    addresses too, and a second `up` must not fail because of them.

    Args:
        needs: Needs by subnet id.
        network: Network plan.
        facts: The account.
        takers: What uses the addresses, for messages: `interfaces and pods`.
        remedy: Alternative to a larger subnet.
    """
    public = {subnet.name for subnet in network.public_subnets}
    for subnet_id, need in needs.items():
        subnet = facts.subnets.get(subnet_id)
        if subnet is not None and need.addresses > subnet.usable_addresses:
            kind = "public" if subnet_id in public else "private"
            yield Problem(
                path=f"{ROOT}.network.{kind}_subnet_ids",
                found=f"{subnet_id} ({subnet.cidr}), {subnet.usable_addresses} addresses",
                problem=(
                    f"the {takers} of {', '.join(need.users)} need {need.addresses} addresses; "
                    "nodes without an address fail to launch"
                ),
                remedy=f"use a larger subnet in {subnet.availability_zone}, {remedy}",
            )


def offering_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the check of offered instance types asks."""
    calls = ("ec2:DescribeInstanceTypeOfferings",)
    for pool in config.pools():
        zones = facts.offered_zone_ids.get(pool.instance_type, frozenset())
        found = f"{pool.instance_type} in {', '.join(sorted(zones)) or 'no zone'}"
        yield Subject(pool.key, "the type is offered where the nodes launch", found, calls)
