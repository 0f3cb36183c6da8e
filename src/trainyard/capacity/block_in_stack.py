"""A Capacity Block in a stack: the text of the stack file, and whether the stack can use it."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.capacity.block_purchase import EXPECTED_ID, expected_block
from trainyard.capacity.offerings import Offering
from trainyard.capacity.stack_entry import Entry, entry_values, with_entry
from trainyard.capacity.stack_pool import pools_in_blocks, with_further_block
from trainyard.capacity.wording import both, money, utc
from trainyard.components import clock
from trainyard.components.capacity.schedule import in_minutes, nodes_leave_before_end
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.preflight.run import Preflight, run_preflight
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import StackFile, find_stack_file
from trainyard.stack_files.stack_outline import capacity_blocks_of, pools_of
from trainyard.stack_files.stack_references import network_reader

if TYPE_CHECKING:
    from trainyard.components.config.load import AnyStackConfig


def text_with_block(
    stack_file: StackFile, offering: Offering, entry: Entry, reservation_id: str
) -> str:
    """Return the text of a stack file with a block in an entry of `reservations`.

    An entry that no nodes use becomes one of `further_blocks` of the nodes that have a block for
    its type.

    Raises:
        UneditableError: the entry cannot be written safely.
    """
    values = entry_values(
        capacity_blocks_of(stack_file).get(entry.name, {}),
        reservation_id=reservation_id,
        instance_count=offering.instances,
        availability_zone=offering.zone,
        starts_at=offering.starts_at.isoformat(),
        ends_at=offering.ends_at.isoformat(),
        upfront_fee_usd=float(offering.fee) if offering.currency == "USD" else None,
    )
    text = with_entry(stack_file.path.read_text(encoding="utf-8"), entry, values)
    for pool in _new_users(stack_file, offering, entry):
        text = with_further_block(text, pool, entry.name)
    return text


def check_block(
    stack_file: StackFile, offering: Offering, entry: Entry, *, sandbox: bool
) -> Preflight:
    """Run the checks of `check --live` with a block that is not bought yet.

    Raises:
        ConfigError: the stack cannot use the block; the error lists every problem.
        AccountUnreachableError: no credentials, or no answer.
        UneditableError: the entry cannot be written safely.
    """
    text = text_with_block(stack_file, offering, entry, EXPECTED_ID)
    changed = _completed(_read(stack_file, text), sandbox=sandbox)
    found = run_preflight(
        config_of(changed, network_of=network_reader(changed, sandbox=sandbox)),
        stack_file=stack_file.name,
        region=offering.region,
        now=clock.now(),
        expected={EXPECTED_ID: expected_block(offering)},
    )
    if found.problems:
        problems = [_of_offering(each, offering) for each in found.problems]
        raise ConfigError(problems, stack_file=stack_file.name)
    return found


def _of_offering(problem: Problem, offering: Offering) -> Problem:
    """Return a problem that names the offering instead of the placeholder of its block."""

    def named(text: str) -> str:
        return text.replace(EXPECTED_ID, offering.offering_id)

    return dataclasses.replace(
        problem,
        problem=named(problem.problem),
        found=named(problem.found) if isinstance(problem.found, str) else problem.found,
        remedy=named(problem.remedy),
    )


def described(
    stack_file: StackFile, offering: Offering, entry: Entry, found: Preflight
) -> Iterator[str]:
    """Yield what is bought, and what the stack does with it."""
    nodes = f"{offering.instances} x {offering.node_type}"
    yield f"{offering.offering_id}: {nodes} in {offering.zone} ({offering.zone_id})"
    yield f"  from {both(offering.starts_at)}"
    leave = in_minutes(nodes_leave_before_end(offering.node_type))
    yield f"  to   {both(offering.ends_at)}; nodes leave {leave} before"
    price = money(offering.fee, offering.currency)
    yield f"  {price} for {offering.hours:g} hours, {offering.node_hour:.2f} a node and hour"
    yield "  The price is paid now, and AWS neither cancels nor refunds it."
    yield f"For {stack_file.stack}: `reservations.{entry.name}` in {stack_file.path}"
    is_further = bool(_new_users(stack_file, offering, entry))
    yield from _uses(offering, entry, found, is_further=is_further)
    for row in found.rows:
        # Rows of the new block say that it has not started.
        if row.verdict in ("warning", "skipped") and EXPECTED_ID not in row.found:
            yield f"  {row.verdict}: {row.subject}: {row.asked}: {row.found}"


def _uses(offering: Offering, entry: Entry, found: Preflight, *, is_further: bool) -> Iterator[str]:
    pools = [] if found.plan is None else found.plan.node_pools
    users = [each for each in pools if each.capacity.purchase_option == entry.name]
    for each in users:
        nodes = f"up to {each.most_nodes} nodes from {utc(offering.starts_at)}"
        further = f", a further block with nodes of its own, {each.name}" if is_further else ""
        yield f"  {each.key}: {nodes}{further}"
    left = offering.instances - sum(each.most_nodes for each in users)
    if left > 0:
        yield f"  {left} of {offering.instances} instances are not used: raise the number of nodes"


def _new_users(stack_file: StackFile, offering: Offering, entry: Entry) -> list[str]:
    """Return the keys of the nodes that get an entry as a further block; none if it has nodes."""
    if any(entry.name in each.purchase_options for each in pools_of(stack_file)):
        return []
    fitting = pools_in_blocks(stack_file, offering.node_type)
    return [p.key for p in fitting if p.purchase_options[0] == fitting[0].purchase_options[0]]


def _read(stack_file: StackFile, text: str) -> StackFile:
    """Return the stack file as it is read with another text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / stack_file.path.name
        path.write_text(text, encoding="utf-8")
        content = find_stack_file(stack_file.stack, path=path).content
    return dataclasses.replace(stack_file, content=content)


def config_without_blocks(stack_file: StackFile, *, sandbox: bool) -> AnyStackConfig:
    """Return the configuration of a stack whose entries may have no block yet.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    missing = {name: {"reservation_id": EXPECTED_ID} for name in capacity_blocks_of(stack_file)}
    filled = completed(_completed(stack_file, sandbox=sandbox), {"reservations": missing})
    return config_of(filled, network_of=network_reader(filled, sandbox=sandbox))


def _completed(stack_file: StackFile, *, sandbox: bool) -> StackFile:
    if not sandbox:
        return stack_file

    return completed(stack_file, sandbox_completion(stack_file))
