"""Only a Capacity Block is launched into as one.

Why:
    A Capacity Block and an On-Demand Capacity Reservation both have ids that begin with `cr-`, but
    EC2 launches into a block only with the market type `capacity-block`, and into a reservation
    only without it. Each other way is refused at the launch, when the node group waits already.
    Which of the two a reservation is shows where the program makes it; of others it is declared in
    `capacity_blocks`, `own_reservations` and `assisted_reservations` of the configuration.
Fix:
    Set the market type of the launch template (or `CapacityType` of the queue) for a Capacity
    Block, remove it for an On-Demand Capacity Reservation.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.resources.parallelcluster import CAPACITY_BLOCK as BLOCK_OF_A_QUEUE
from policies.resources.parallelcluster import compute_resources
from policies.resources.props import UNKNOWN
from policies.resources.reservations import ASSISTED, CAPACITY_BLOCKS, DECLARED_SCHEMA, OWN
from policies.resources.reserved_nodes import reserved_nodes
from policies.resources.stack import Stack
from policies.resources.types import CAPACITY_BLOCK_RESERVATION, CLOUDFORMATION_STACK
from policies.rule import Config, on_stack


def _check(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    for nodes in reserved_nodes(stack):
        kinds = {each.resource_type for each in nodes.target.reservations}
        # A group may hold both kinds, and there may be others that are not seen.
        if len(kinds) == 1 and not nodes.target.elsewhere and nodes.market is not UNKNOWN:
            bought = kinds == {CAPACITY_BLOCK_RESERVATION}
            fault = _fault(nodes.names, bought=bought, as_block=nodes.market == CAPACITY_BLOCK)
            if fault:
                yield nodes.urn, f"{nodes.where}{fault}"
    yield from _declared(stack, config)


def _declared(stack: Stack, config: Config) -> Iterator[tuple[str, str]]:
    """Yield the launches into a reservation of which the configuration tells the kind."""
    blocks = set(config.get(CAPACITY_BLOCKS) or ())
    others = {*(config.get(OWN) or ()), *(config.get(ASSISTED) or ())}
    for urn, where, target, as_block in _launches(stack):
        if target in blocks or target in others:
            fault = _fault(target, bought=target in blocks, as_block=as_block)
            if fault:
                yield urn, f"{where}{fault}"


def _launches(stack: Stack) -> Iterator[tuple[str, str, str, bool]]:
    """Yield URN, beginning of a message, target, and whether it is launched into as a block."""
    for resource in stack.of_type(*LAUNCHES):
        launch = Launch(resource.resource_type, stack.facts_of(resource.urn))
        market, target = launch.market_type, launch.reservation
        elsewhere = market is None and launch.takes_the_rest_from_a_template
        if isinstance(target, str) and not elsewhere and market is not UNKNOWN:
            yield resource.urn, "", target, market == CAPACITY_BLOCK
    for clusters in stack.of_type(CLOUDFORMATION_STACK):
        for nodes in compute_resources(stack.facts_of(clusters.urn).get("templateBody")):
            if nodes.reservation is not None:
                where = f"in its compute resource {nodes.name}, "
                as_block = nodes.capacity_type == BLOCK_OF_A_QUEUE
                yield clusters.urn, where, nodes.reservation, as_block


def _fault(names: str, *, bought: bool, as_block: bool) -> str | None:
    if bought and not as_block:
        return (
            f"it targets the Capacity Block {names} without the market type that EC2 wants for it; "
            f"set market_type to {CAPACITY_BLOCK}"
        )
    if as_block and not bought:
        return (
            f"its market type is {CAPACITY_BLOCK}, but {names} is an On-Demand Capacity "
            "Reservation; remove the market type, or target a Capacity Block"
        )
    return None


POLICY = StackValidationPolicy(
    name="capacity-block-kind",
    display_name="Blocks and reservations are launched into each in its way",
    description="A launch has the market type capacity-block if it targets a Capacity Block.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "D6"],
    config_schema=DECLARED_SCHEMA,
    remediation_steps="Set the market type for a Capacity Block, remove it for a reservation.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html",
    validate=on_stack(_check),
)
