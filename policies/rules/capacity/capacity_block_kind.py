"""A launch uses the market type capacity-block if, and only if, it targets a Capacity Block.

Why:
    The ids of Capacity Blocks and of On-Demand Capacity Reservations both begin with `cr-`. EC2
    launches into a Capacity Block only with the market type `capacity-block`, and into an On-Demand
    Capacity Reservation only without it. The error appears at launch, when the node group already
    waits for nodes. The rule knows the kind of a reservation that the program creates. For other
    reservations, declare the kind in `capacity_blocks`, `own_reservations` and
    `assisted_reservations`.
Fix:
    For a Capacity Block, set the market type of the launch template (`CapacityType` of a
    ParallelCluster queue). For an On-Demand Capacity Reservation, remove it.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from trainyard.policies.resources.parallelcluster import CAPACITY_BLOCK as QUEUE_BLOCK
from trainyard.policies.resources.parallelcluster import compute_resources_of
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.reservations import (
    ASSISTED,
    CAPACITY_BLOCKS,
    DECLARED_SCHEMA,
    OWN,
)
from trainyard.policies.resources.reserved_nodes import reserved_nodes
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import CAPACITY_BLOCK_RESERVATION
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        kinds = {each.resource_type for each in nodes.target.reservations}
        # A group may hold both kinds, or reservations outside the stack.
        if len(kinds) == 1 and not nodes.target.elsewhere and nodes.market is not UNKNOWN:
            bought = kinds == {CAPACITY_BLOCK_RESERVATION}
            fault = _fault(nodes.names, bought=bought, as_block=nodes.market == CAPACITY_BLOCK)
            if fault:
                yield nodes.urn, f"{nodes.where}{fault}"
    yield from _declared(stack, config)


def _declared(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    """Yield the violations for reservations whose kind the configuration declares."""
    blocks = set(config.get(CAPACITY_BLOCKS) or ())
    others = {*(config.get(OWN) or ()), *(config.get(ASSISTED) or ())}
    for urn, where, target, as_block in _launches(stack):
        if target in blocks or target in others:
            fault = _fault(target, bought=target in blocks, as_block=as_block)
            if fault:
                yield urn, f"{where}{fault}"


def _launches(stack: Stack) -> Iterator[tuple[str, str, str, bool]]:
    """Yield URN, beginning of a message, target, and whether the launch uses it as a block."""
    for resource in stack.of_type(*LAUNCHES):
        launch = Launch(resource.resource_type, stack.facts_of(resource.urn))
        market, target = launch.market_type, launch.reservation
        elsewhere = market is None and launch.takes_the_rest_from_a_template
        if isinstance(target, str) and not elsewhere and market is not UNKNOWN:
            yield resource.urn, "", target, market == CAPACITY_BLOCK
    for clusters, nodes in compute_resources_of(stack):
        if nodes.reservation is not None:
            as_block = nodes.capacity_type == QUEUE_BLOCK
            yield clusters.urn, nodes.where, nodes.reservation, as_block


def _fault(names: str, *, bought: bool, as_block: bool) -> str | None:
    if bought and not as_block:
        return (
            f"it targets the Capacity Block {names} without the market type that EC2 requires; "
            f"set market_type to {CAPACITY_BLOCK}"
        )
    if as_block and not bought:
        return (
            f"its market type is {CAPACITY_BLOCK}, but {names} is an On-Demand Capacity "
            "Reservation; remove the market type, or target a Capacity Block"
        )
    return None


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["D6"],
    config_schema=DECLARED_SCHEMA,
    check=_check,
)
