"""Account checks of the placement groups that a stack file names.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html: a cluster
    placement group lies in one zone
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html: capacity is reserved only in
    cluster placement groups
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PlacementGroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts, PlacementGroupFacts
from trainyard.components.account.launch_place import in_zone, pool_zone
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named
from trainyard.components.config.node_pool import Pool
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.config.stack import StackConfig

AVAILABLE = "available"
CLUSTER = "cluster"


def placement_group_problems(
    use: Named, found: PlacementGroupFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why nodes would not launch into the group, or not close together."""
    path = f"{ROOT}.{use.key}"
    if found is None or found.state != AVAILABLE:
        yield Problem(
            path=path,
            found=use.name if found is None else f"{use.name}, {found.state}",
            problem="nothing launches into this placement group: it is not available here",
            allowed="a placement group of this account and region that is available",
            remedy="copy a name from `aws ec2 describe-placement-groups`",
        )
    elif found.strategy != CLUSTER:
        yield Problem(
            path=path,
            found=f"{use.name}, strategy {found.strategy}",
            problem=(
                f"a {found.strategy} placement group keeps nodes apart; capacity is reserved, and "
                "nodes stand close together, only in cluster placement groups"
            ),
            allowed="a placement group with the strategy cluster",
            remedy=(
                "give one (`aws ec2 create-placement-group --strategy cluster --group-name NAME`), "
                "or use `group: create`"
            ),
        )


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
