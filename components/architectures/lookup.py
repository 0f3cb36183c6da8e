"""Look up named objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trainyard.components import clock
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.reader import AccountReader, Reading, read_side_by_side
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.registry import account_of
from trainyard.components.capacity.lookup import (
    look_up_created,
    look_up_reservation_groups,
    look_up_reservations,
)
from trainyard.components.compute.lookup import (
    key_pair_type,
    look_up_images,
    offered_zone_ids,
    pool_image_readings,
    public_image_readings,
)
from trainyard.components.config.named import Named, names_in
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import ConfigError
from trainyard.components.config.provider_settings import OF_ENVIRONMENT, ProviderSettings
from trainyard.components.named.checks import OBJECT_KINDS
from trainyard.components.named.lookup import LookUp, NotReadError
from trainyard.components.network.lookup import (
    look_up_layout,
    look_up_subnets,
    look_up_vpc,
    look_up_zones,
)
from trainyard.components.quotas.checks import quotas_of
from trainyard.components.quotas.lookup import quota_readings
from trainyard.components.storage.lookup import look_up_file_systems

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig


def named_readings(reader: AccountReader, uses: Iterable[Named]) -> Iterator[Reading]:
    """Yield a reading for each named object."""
    wanted = {(use.kind, use.name): OBJECT_KINDS[use.kind].look_up for use in uses}
    for (kind, name), look_up in wanted.items():
        yield lambda kind=kind, name=name, look_up=look_up: _reading(reader, kind, name, look_up)


def _reading(
    reader: AccountReader, kind: str, name: str, look_up: LookUp
) -> Mapping[str, Mapping[Any, Any]]:
    try:
        return {"named": {(kind, name): look_up(reader, name)}}
    except NotReadError:
        return {"named": {}}


def look_up(
    config: AnyStackConfig, *, region: str, settings: ProviderSettings = OF_ENVIRONMENT
) -> AccountFacts:
    """Read the facts that the stack file depends on.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reader = AccountReader(region=region, settings=settings)
    return account_facts(read_side_by_side(account_readings(reader, config)), reader, config)


def account_facts(
    fields: Mapping[str, Any], reader: AccountReader, config: AnyStackConfig
) -> AccountFacts:
    """Return the facts from the results of `account_readings`, and of readings that need them.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    facts = AccountFacts(**fields, unreadable=reader.not_read())
    later = [*account_of(config).later_readings(reader, config, facts)]
    return replace(
        facts,
        **read_side_by_side(later),
        unreadable=reader.not_read(),
        left_out=dict(sorted(reader.left_out.items())),
    )


def account_readings(reader: AccountReader, config: AnyStackConfig) -> Iterator[Reading]:
    """Yield the readings for a stack, in any order."""
    account = account_of(config)
    places = account.needs.places_file_systems
    # Readings that others wait for, or with several sequential calls, come first.
    yield from account.readings(reader, config)
    for image_id in config.architecture.image_ids():
        yield lambda image_id=image_id: {"images": look_up_images(reader, image_id)}
    yield lambda: _reservations(reader, config)
    yield lambda: _network(reader, config)
    yield lambda: {"account_id": reader.account_id()}
    yield lambda: {"file_systems": look_up_file_systems(reader, config, places_file_systems=places)}
    for name in _types(config):
        yield lambda name=name: {"offered_zone_ids": {name: offered_zone_ids(reader, name)}}
    yield from named_readings(reader, all_names(config))
    yield from quota_readings(reader, quotas_of(config, account.needs.quotas), config.name)
    for name in sorted(config.architecture.key_names()):
        yield lambda name=name: _key_pair(reader, name)
    plan = _plan_without_account(config, reader.region)
    if plan is not None:
        yield from pool_image_readings(reader, plan.node_pools)
        yield from public_image_readings(reader, account.container_images(plan, stack_file=""))


def _plan_without_account(config: AnyStackConfig, region: str) -> AnyPlan | None:
    """Return the plan without what only the account knows, to look up the versions in it.

    They do not depend on the account. None if the stack cannot be planned; `examine` says why.
    """
    try:
        return plan_stack(config, stack_file="", region=region, now=clock.now())
    except ConfigError:
        return None


def all_names(config: AnyStackConfig) -> tuple[Named, ...]:
    """Return the objects that the stack file names, and the names that the stack takes."""
    return (*names_in(config), *account_of(config).made_names(config))


def _reservations(reader: AccountReader, config: AnyStackConfig) -> Mapping[str, Any]:
    groups = look_up_reservation_groups(reader, config)
    created = look_up_created(reader, config)
    return {
        "reservation_groups": groups,
        "reservations": {
            **look_up_reservations(reader, config, groups),
            **{each.reservation_id: each for each in created.values()},
        },
        "created_reservations": {name: each.reservation_id for name, each in created.items()},
    }


def _network(reader: AccountReader, config: AnyStackConfig) -> Mapping[str, Any]:
    network = config.network
    if isinstance(network, NewVpc):
        adopted = look_up_layout(reader, network.adopt.vpc_id) if network.adopt else None
        return {"vpc": None, "zones": look_up_zones(reader), "adopted_vpc": adopted}
    return {
        "vpc": look_up_vpc(reader, network.vpc_id),
        "subnets": look_up_subnets(
            reader, (*network.public_subnet_ids, *network.private_subnet_ids)
        ),
    }


def _key_pair(reader: AccountReader, name: str) -> Mapping[str, Any]:
    kind = key_pair_type(reader, name)
    return {"key_pairs": {} if kind is None else {name: kind}}


def _types(config: AnyStackConfig) -> list[str]:
    """Return the instance types whose offerings are needed."""
    architecture = config.architecture
    own = {
        nodes.instance_type
        for nodes in architecture.own_nodes()
        # Nodes in every subnet of an existing VPC launch where they can.
        if nodes.first_zone_only or isinstance(config.network, NewVpc)
    }
    return sorted(own | {pool.instance_type for pool in architecture.pools()})
