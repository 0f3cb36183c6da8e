"""Read the facts that a stack file depends on, by architecture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from components.account.facts import AccountFacts
from components.account.file_system_lookup import look_up_file_systems
from components.account.lookup import AccountReader
from components.account.readings import Reading, read_side_by_side
from components.account.reservations import look_up_reservation_groups, look_up_reservations
from components.config.network import NewVpc
from components.config.pools import pools
from components.config.stack_models import is_batch, is_eks, is_parallelcluster

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig


def look_up(config: AnyStackConfig, *, region: str, profile: str | None = None) -> AccountFacts:
    """Read the facts that the stack file depends on.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reader = AccountReader(region=region, profile=profile)
    return account_facts(read_side_by_side(account_readings(reader, config)), reader)


def account_facts(fields: Mapping[str, Any], reader: AccountReader) -> AccountFacts:
    """Return the facts from the results of `account_readings`."""
    return AccountFacts(**fields, unreadable=reader.not_read())


def account_readings(reader: AccountReader, config: AnyStackConfig) -> Iterator[Reading]:
    """Yield the readings for a stack, in any order."""
    # Readings that others wait for, or with several sequential calls, come first.
    yield from _architecture_readings(reader, config)
    yield lambda: _reservations(reader, config)
    yield lambda: _network(reader, config)
    yield lambda: {"account_id": reader.account_id()}
    yield lambda: {"file_systems": look_up_file_systems(reader, config)}
    for name in _types(config):
        yield lambda name=name: {"offered_zone_ids": {name: reader.offered_zone_ids(name)}}
    for name in key_names(config):
        yield lambda name=name: _key_pair(reader, name)


def key_names(config: AnyStackConfig) -> list[str]:
    """Return the names of the key pairs in the stack file."""
    named: list[str | None] = []
    if is_eks(config):
        named = [group.ssh_key_name for group in config.architecture.node_groups.values()]
    elif is_parallelcluster(config):
        named = [config.architecture.head_node.ssh.key_name]
    elif is_batch(config):
        named = [each.ssh_key_name for each in config.architecture.compute_environments.values()]
    return sorted({name for name in named if name is not None})


def _architecture_readings(reader: AccountReader, config: AnyStackConfig) -> Iterator[Reading]:
    # Only the readings of the stack's architecture are imported.
    if is_eks(config):
        from components.account.eks_checks import eks_readings

        yield from eks_readings(reader, config)
    elif is_parallelcluster(config):
        from components.account.parallelcluster_checks import parallelcluster_readings

        yield from parallelcluster_readings(reader, config)
    elif is_batch(config):
        from components.account.batch_checks import batch_readings

        yield from batch_readings(reader, config)


def _reservations(reader: AccountReader, config: AnyStackConfig) -> Mapping[str, Any]:
    groups = look_up_reservation_groups(reader, config)
    return {
        "reservation_groups": groups,
        "reservations": look_up_reservations(reader, config, groups),
    }


def _network(reader: AccountReader, config: AnyStackConfig) -> Mapping[str, Any]:
    network = config.network
    if isinstance(network, NewVpc):
        return {"vpc": None, "zones": reader.zones()}
    return {
        "vpc": reader.vpc(network.vpc_id),
        "subnets": reader.subnets((*network.public_subnet_ids, *network.private_subnet_ids)),
    }


def _key_pair(reader: AccountReader, name: str) -> Mapping[str, Any]:
    kind = reader.key_pair_type(name)
    return {"key_pairs": {} if kind is None else {name: kind}}


def _types(config: AnyStackConfig) -> list[str]:
    """Return the instance types whose offerings are needed."""
    types = {pool.instance_type for pool in pools(config)}
    if is_parallelcluster(config):
        types.add(config.architecture.head_node.instance_type)
    elif is_eks(config) and isinstance(config.network, NewVpc):
        types.add(config.architecture.system_node_group.instance_type)
    return sorted(types)
