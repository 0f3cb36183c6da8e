"""Checks of instance types, images and placement groups of nodes against the account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trainyard.components.account.check import Check, Row, Subject, ok, refused, skipped, warning
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.account.known import Known
from trainyard.components.capacity.launch_place import (
    in_zone,
    pool_zone,
    private_subnets,
    zone_without_subnet,
)
from trainyard.components.capacity.reservations import found_reservations
from trainyard.components.compute.facts import TypeFacts
from trainyard.components.compute.image_registry import UsedImage
from trainyard.components.compute.lookup import DESCRIBE_IMAGES, DESCRIBE_TYPES, GET_PARAMETER
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.config.node_pool import Pool
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig

# Public container images.
#
# A tag that does not exist shows as `ImagePullBackOff` on nodes that cost money. A registry that
# does not answer refuses nothing: this machine can be behind a proxy, or without a way to the
# internet.


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


def public_image_check(used: Iterable[UsedImage], facts: AccountFacts) -> Check:
    """Return the check that nodes can pull images from public registries."""
    images = tuple(used)
    subjects = public_image_subjects(images, facts)
    return Check("public images", public_image_problems(images, facts), subjects)


def pool_image_check(
    pools: Sequence[NodePoolPlan], facts: AccountFacts, *, region: str, remedy: str
) -> Check:
    """Return the check that the region has the AMIs of the nodes."""
    missing = pool_image_problems(pools, facts, region=region, remedy=remedy)
    return Check("AMIs", missing, pool_image_subjects(pools, facts))


def offered_type_checks(known: Known[Any, Any]) -> Iterator[Check]:
    """Yield the check that EC2 offers each type where its nodes launch."""
    config, facts = known.config, known.facts
    yield Check("offered types", pool_problems(config, facts), offering_subjects(config, facts))


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


def offering_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the check of offered instance types asks."""
    calls = ("ec2:DescribeInstanceTypeOfferings",)
    for pool in config.pools():
        zones = facts.offered_zone_ids.get(pool.instance_type, frozenset())
        found = f"{pool.instance_type} in {', '.join(sorted(zones)) or 'no zone'}"
        yield Subject(pool.key, "the type is offered where the nodes launch", found, calls)


def shared_group_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield placement groups whose pools launch in more than one zone."""
    groups: dict[str, dict[str, Pool]] = {}
    for pool in config.pools():
        group, zone = _group(pool, config), _zone_id(pool, config, facts)
        if group is not None and zone is not None:
            groups.setdefault(group, {}).setdefault(zone, pool)
    for group, by_zone in groups.items():
        first, *others = by_zone.items()
        for zone, pool in others:
            yield Problem(
                path=f"{ROOT}.{pool.key}.placement",
                found=f"{group}, in {zone}",
                problem=(
                    f"a cluster placement group lies in one zone, and {first[1].key} uses this one "
                    f"in {first[0]}; EC2 refuses the nodes in the second zone"
                ),
                allowed="one placement group for each zone",
                remedy="give these nodes another group (`group: create`), or the other zone",
            )


def _group(pool: Pool, config: StackConfig) -> str | None:
    """Return the existing group that the nodes of a pool launch into."""
    reservation = config.reservations.get(pool.purchase_option)
    if reservation is None or isinstance(reservation, CapacityBlock):
        return pool.placement.name
    return pool.placement.name or reservation.placement_group


def _zone_id(pool: Pool, config: StackConfig, facts: AccountFacts) -> str | None:
    """Return the id of the only zone of a pool; None if it is unknown or there are several."""
    if pool.subnet_ids:
        subnets = (facts.subnets.get(subnet_id) for subnet_id in pool.subnet_ids)
        zones = {subnet.zone_id if subnet else None for subnet in subnets}
    else:
        zone = pool_zone(pool, config, facts)
        if zone is None:
            return None
        zones = {each.zone_id for each in facts.zones if zone in (each.name, each.zone_id)}
        zones |= {each.zone_id for each in facts.subnets.values() if in_zone(each, zone)}
    return zones.pop() if len(zones) == 1 else None


TYPE = "the catalog matches the instance type in EC2"


MARKET = "EC2 offers the purchase option for the instance type"


def shared_group_checks(known: Known[Any, Any]) -> Iterator[Check]:
    """Yield the check of placement groups that pools share."""
    yield Check("placement groups", shared_group_problems(known.config, known.facts))


def live_type_rows(known: Known[Any, Any]) -> Iterator[Row]:
    """Yield rows on the instance types of the planned nodes."""
    yield from type_rows(known.plan.node_pools, known.more)


def type_rows(launches: Sequence[NodePoolPlan], more: PreflightFacts) -> Iterator[Row]:
    """Yield rows that compare the catalog with EC2 for the instance types of the nodes."""
    for launch in launches:
        if launch.key == "architecture.system_node_group":
            continue
        reason = more.why_not(DESCRIBE_TYPES)
        facts = more.instance_types.get(launch.instance_type.name)
        if reason is not None:
            yield skipped(launch.key, TYPE, reason)
        elif facts is not None:
            yield _agreement(launch, facts)
            yield from _market(launch, facts)


def _agreement(launch: NodePoolPlan, facts: TypeFacts) -> Row:
    ours = launch.instance_type
    found = (
        f"{ours.name}: {facts.efa_interfaces} EFA interfaces on {facts.network_cards} cards"
        if facts.efa_interfaces
        else f"{ours.name}: no EFA"
    )
    if launch.interfaces is not None and facts.efa_interfaces < launch.interfaces.efa_interfaces:
        return refused(
            TYPE,
            Problem(
                path=f"{ROOT}.{launch.key}.instance_type",
                found=found,
                problem=(
                    f"the nodes would request {launch.interfaces.efa_interfaces} EFA interfaces, "
                    "more than the instance type supports"
                ),
                allowed=f"at most {facts.efa_interfaces}",
                remedy="set efa_enabled to false, or use another instance type",
            ),
        )
    if launch.placement.group != "none" and "cluster" not in facts.placement_strategies:
        return refused(
            TYPE,
            Problem(
                path=f"{ROOT}.{launch.key}.placement",
                found=f"{ours.name}: {', '.join(sorted(facts.placement_strategies)) or 'none'}",
                problem="EC2 does not support this type in a cluster placement group",
                remedy="set placement.group to none, or use another instance type",
            ),
        )
    if (facts.efa_interfaces, facts.network_cards) != (
        ours.efa_interfaces,
        len(ours.network_cards),
    ):
        return warning(
            launch.key,
            TYPE,
            f"{found}; the catalog says {ours.efa_interfaces} on {len(ours.network_cards)}: run "
            "`python -m tools.catalog.compare`",
        )
    return ok(launch.key, TYPE, found)


def _market(launch: NodePoolPlan, facts: TypeFacts) -> Iterator[Row]:
    market = launch.capacity.market_type or "on-demand"
    if not facts.usage_classes or market in facts.usage_classes:
        return
    yield refused(
        MARKET,
        Problem(
            path=f"{ROOT}.{launch.key}.purchase_option",
            found=launch.capacity.purchase_option,
            problem=f"EC2 does not offer {launch.instance_type.name} as {market} in this region",
            allowed=", ".join(sorted(facts.usage_classes)),
            remedy="use one of these purchase options, or another instance type",
        ),
    )
