"""Capacity Blocks in a stack file: its pools, their zones, and the text of their entries."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from trainyard.capacity.block_purchase import EXPECTED_ID, expected_block
from trainyard.capacity.offerings import Offering
from trainyard.capacity.wording import both, money, utc
from trainyard.components import clock
from trainyard.components.account.reader import AccountReader
from trainyard.components.architectures.preflight import Preflight, run_preflight
from trainyard.components.capacity.schedule import in_minutes, nodes_leave_before_end
from trainyard.components.config.network import NewVpc
from trainyard.components.config.problems import ROOT, ConfigError, Problem
from trainyard.components.network.lookup import look_up_subnets
from trainyard.stack_files.completion import completed
from trainyard.stack_files.files import file_text, write_whole
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile, find_stack_file
from trainyard.stack_files.stack_outline import (
    PoolOutline,
    capacity_blocks_of,
    pools_of,
    reservations_of,
)
from trainyard.stack_files.stack_references import network_reader
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from trainyard.capacity.offerings import Offering
    from trainyard.components.config.load import AnyStackConfig


class UneditableError(Exception):
    """A stack file has a form in which it cannot be edited safely."""


def child(node: Any, key: str) -> Any:
    """Return the node of a key in a mapping.

    Raises:
        UneditableError: the node is no mapping, or has no such key.
    """
    if not isinstance(node, yaml.MappingNode):
        raise UneditableError(f"{key} is not in a mapping")
    found = next((value for name, value in node.value if name.value == key), None)
    if found is None:
        raise UneditableError(f"the file has no {key}")
    return found


def line_end(text: str, index: int) -> int:
    """Return the end of the line of a place, before its line break."""
    end = text.find("\n", index)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def newline(text: str) -> str:
    """Return the line break of a file."""
    return "\r\n" if "\r\n" in text else "\n"


@dataclass(frozen=True, slots=True)
class StackZones:
    """The zones of a stack's network."""

    subnets: Mapping[str, str]
    """Private subnets by the name and by the id of their zone; of a VPC that the stack creates,
    `a new subnet`."""

    def text(self, offering: Offering) -> str:
        """Return the subnet in the zone of an offering, or that there is none."""
        return self.subnets.get(offering.zone) or self.subnets.get(offering.zone_id) or "none"


def stack_zones(reader: AccountReader, config: AnyStackConfig) -> StackZones:
    """Return the zones in which nodes of a stack can launch.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    network = config.network
    if isinstance(network, NewVpc):
        return StackZones(dict.fromkeys(network.availability_zones, "a new subnet"))
    found = look_up_subnets(reader, network.private_subnet_ids)
    # The subnet with most free addresses wins, as in the plan of a node pool.
    fullest_last = sorted(found.values(), key=lambda each: each.free_addresses)
    names = {each.availability_zone: each.subnet_id for each in fullest_last}
    return StackZones({**names, **{each.zone_id: each.subnet_id for each in fullest_last}})


_KEY = "further_blocks"


def pools_in_blocks(stack_file: StackFile, instance_type: str) -> list[PoolOutline]:
    """Return the node pools of an instance type that use a Capacity Block.

    Without such pools, these are all that use a block, which the checks of the stack then refuse.
    """
    blocks = capacity_blocks_of(stack_file)
    users = [each for each in pools_of(stack_file) if blocks.keys() & {*each.purchase_options}]
    return [each for each in users if each.section["instance_type"] == instance_type] or users


def with_further_block(text: str, pool: str, block: str) -> str:
    """Return the text of a stack file in which a node pool has one more of `further_blocks`.

    Args:
        text: The text.
        pool: Key of the pool, relative to `trainyard:cluster`.
        block: Entry of `reservations`.

    Raises:
        UneditableError: the file has a form in which it cannot be written safely.
    """
    path = ("config", CLUSTER_KEY, *pool.split("."))
    at, new = _edit(text, _at(yaml.compose(text, Loader=yaml.SafeLoader), path), block)
    changed = text[:at] + new + text[at:]
    wanted = yaml.safe_load(text)
    place = wanted
    for key in path:
        place = place[key]
    place[_KEY] = [*place.get(_KEY, ()), block]
    try:
        is_right = yaml.safe_load(changed) == wanted
    except yaml.YAMLError:
        is_right = False
    if not is_right:
        raise UneditableError(f"`{pool}` has a form that cannot be changed here")
    return changed


def _at(node: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        node = child(node, key)
    return node


def _edit(text: str, pool: Any, block: str) -> tuple[int, str]:
    """Return the place and the text to insert there."""
    pairs = {name.value: (name, value) for name, value in pool.value}
    if _KEY not in pairs:
        name, value = pairs["instance_type"]
        if pool.flow_style:
            return value.end_mark.index, f", {_KEY}: [{block}]"
        indent = " " * name.start_mark.column
        at = line_end(text, value.end_mark.index)
        return at, f"{newline(text)}{indent}{_KEY}: [{block}]"
    blocks = pairs[_KEY][1]
    if not isinstance(blocks, yaml.SequenceNode):
        raise UneditableError(f"`{_KEY}` is no list")
    if not blocks.value:
        return blocks.start_mark.index + 1, block
    last = blocks.value[-1]
    if blocks.flow_style:
        return last.end_mark.index, f", {block}"
    indent = " " * blocks.start_mark.column
    return line_end(text, last.end_mark.index), f"{newline(text)}{indent}- {block}"


# The entry of a stack file for a Capacity Block: which one, and its text.
#
# The text is changed at the positions of the YAML nodes, so that everything else in a file of the
# user stays as it is: comments, order, quotes and line ends.


_PATH = ("config", CLUSTER_KEY, "reservations")
_ID = "reservation_id"


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """The entry of `reservations` that a block is written into."""

    name: str
    is_new: bool
    """Whether the stack file does not have it yet."""


def chosen_entry(
    stack_file: StackFile,
    asked: str,
    in_use: Callable[[str], str | None],
    *,
    instance_type: str,
    starts_at: datetime,
) -> BlockEntry | Problem:
    """Return the entry for a new block, or why there is none.

    Args:
        stack_file: The stack file of the user, which is not completed.
        asked: Name in `--entry`; empty to choose the only entry without a usable block of the nodes
            that get the new one, or a new entry if all have one.
        in_use: Returns how long the block of an id can still be used, or None if it cannot.
        instance_type: Type of the new block.
        starts_at: Start of the new block, for the name of a new entry.
    """
    entries = capacity_blocks_of(stack_file)
    others = set(reservations_of(stack_file)) - set(entries)
    if not entries:
        return _no_entry()
    if asked in others:
        return Problem(
            path="--entry",
            problem="this entry of `reservations` is no Capacity Block",
            found=asked,
            allowed=f"{', '.join(entries)}, or a new name",
            remedy="use one of these",
        )
    if asked and asked not in entries:
        return BlockEntry(asked, is_new=True)
    # No nodes would use a block in another entry, such as one that was taken out of a pool.
    pools = pools_in_blocks(stack_file, instance_type)
    used = {name for pool in pools for name in pool.purchase_options} or {*entries}
    held = {name: in_use(str(entry.get(_ID, ""))) for name, entry in entries.items()}
    free = [name for name, until in held.items() if until is None]
    free = [name for name in free if (name == asked if asked else name in used)]
    if len(free) == 1:
        return BlockEntry(free[0], is_new=False)
    if free:
        return Problem(
            path="--entry",
            problem="several entries of `reservations` have no block that can be used",
            allowed=", ".join(free),
            remedy="add `--entry` with the one that gets the new block",
        )
    if not asked:
        return BlockEntry(_new_name(starts_at, set(reservations_of(stack_file))), is_new=True)
    return Problem(
        path="--entry",
        problem=(
            f"`{asked}` has a block that can be used {held[asked]}; with another id, `up` would "
            "move its nodes now"
        ),
        remedy=(
            "omit `--entry`, or give a new name: the block becomes an entry of its own, and the "
            "same nodes get it as one of their `further_blocks`"
        ),
    )


def _new_name(starts_at: datetime, taken: set[str]) -> str:
    """Return a short name: the names of nodes of ParallelCluster have at most 25 characters."""
    name = f"block-{starts_at:%m%d}"
    others = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain([name], others) if each not in taken)


def _no_entry() -> Problem:
    return Problem(
        path=f"{ROOT}.reservations",
        problem="no entry is a Capacity Block, so no nodes would use the new one",
        remedy=(
            "add `reservations: {block: {kind: capacity-block, reservation_id: "
            "cr-00000000000000000}}` and set `purchase_option: block` for the nodes that use it; "
            "`capacity buy` replaces the id"
        ),
    )


def entry_values(
    entry: Mapping[str, Any],
    *,
    reservation_id: str,
    instance_count: int,
    availability_zone: str,
    starts_at: str,
    ends_at: str,
    upfront_fee_usd: float | None = None,
) -> dict[str, Any]:
    """Return the values of an entry with a new block: its id, and those that describe the old one.

    Zone and times are read from the account, so an entry without them stays without. The fee cannot
    be read after the purchase.
    """
    described = {
        "instance_count": instance_count,
        "availability_zone": availability_zone,
        "starts_at": starts_at,
        "ends_at": ends_at,
    }
    fee = {} if upfront_fee_usd is None else {"upfront_fee_usd": upfront_fee_usd}
    return {_ID: reservation_id, **{k: v for k, v in described.items() if k in entry}, **fee}


def with_entry(text: str, entry: BlockEntry, values: Mapping[str, Any]) -> str:
    """Return the text of a stack file in which an entry has other values.

    Raises:
        UneditableError: the file has a form in which they cannot be written safely.
    """
    before = yaml.safe_load(text)
    changed = _changed(text, entry, values)
    expected = _with_values(before, entry, values)
    try:
        is_right = yaml.safe_load(changed) == expected
    except yaml.YAMLError:
        is_right = False
    if not is_right:
        raise UneditableError(
            f"the entry `{entry.name}` of `reservations` has a form that cannot be changed here"
        )
    return changed


def _with_values(document: Any, entry: BlockEntry, values: Mapping[str, Any]) -> Any:
    """Return a document with the values of an entry, without changing it."""
    result = {**document}
    here = result
    for key in _PATH:
        here[key] = {**here[key]}
        here = here[key]
    old = here.get(entry.name, {"kind": "capacity-block"})
    here[entry.name] = {**old, **{key: yaml.safe_load(_yaml(v)) for key, v in values.items()}}
    return result


def _changed(text: str, entry: BlockEntry, values: Mapping[str, Any]) -> str:
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    for key in _PATH:
        node = child(node, key)
    edits: list[tuple[int, int, str]] = []
    if entry.is_new:
        edits.append(_new_entry(text, node, entry.name, values))
    else:
        edits += _edits(text, child(node, entry.name), values)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _edits(text: str, node: Any, values: Mapping[str, Any]) -> Iterable[tuple[int, int, str]]:
    """Return the edits of an existing entry: start, end and new text."""
    pairs = {name.value: (name, value) for name, value in node.value}
    for key, value in values.items():
        if key in pairs:
            old = pairs[key][1]
            yield old.start_mark.index, old.end_mark.index, _yaml(value)
            continue
        kind_key, kind = pairs["kind"]
        if node.flow_style:
            at = kind.end_mark.index
            yield at, at, f", {key}: {_yaml(value)}"
        else:
            at = line_end(text, kind.end_mark.index)
            indent = " " * kind_key.start_mark.column
            yield at, at, f"{newline(text)}{indent}{key}: {_yaml(value)}"


def _new_entry(text: str, node: Any, name: str, values: Mapping[str, Any]) -> tuple[int, int, str]:
    """Return the edit that adds an entry before the first one."""
    if not isinstance(node, yaml.MappingNode) or not node.value:
        raise UneditableError("`reservations` is no mapping")
    content = {"kind": "capacity-block", **values}
    if node.flow_style:
        inner = ", ".join(f"{key}: {_yaml(value)}" for key, value in content.items())
        at = node.value[0][0].start_mark.index
        return at, at, f"{name}: {{{inner}}}, "
    first = node.value[0][0].start_mark
    indent, end = " " * first.column, newline(text)
    lines = [
        f"{indent}{name}:",
        *(f"{indent}  {key}: {_yaml(value)}" for key, value in content.items()),
    ]
    at = first.index - first.column
    # Comments above the first entry stay with it.
    while (above := text.rfind("\n", 0, max(at - 1, 0)) + 1) < at and text[
        above:at
    ].lstrip().startswith("#"):
        at = above
    return at, at, "".join(f"{line}{end}" for line in lines)


def _yaml(value: Any) -> str:
    """Return a scalar as YAML; a time is in quotes, because YAML has times of its own."""
    return f'"{value}"' if isinstance(value, str) and ":" in value else str(value)


def text_with_block(
    stack_file: StackFile, offering: Offering, entry: BlockEntry, reservation_id: str
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
    text = with_entry(file_text(stack_file.path), entry, values)
    for pool in _new_users(stack_file, offering, entry):
        text = with_further_block(text, pool, entry.name)
    return text


def check_block(target: Target, offering: Offering, entry: BlockEntry) -> Preflight:
    """Run the checks of `check --live` with a block that is not bought yet.

    Raises:
        ConfigError: the stack cannot use the block; the error lists every problem.
        AccountUnreachableError: no credentials, or no answer.
        UneditableError: the entry cannot be written safely.
    """
    text = text_with_block(target.stack_file, offering, entry, EXPECTED_ID)
    changed = target.account.completed(_read(target.stack_file, text))
    reader = network_reader(dataclasses.replace(target, stack_file=changed))
    found = run_preflight(
        config_of(changed, network_of=reader),
        stack_file=target.stack_file.name,
        region=offering.region,
        now=clock.now(),
        settings=target.account.settings,
        expected={EXPECTED_ID: expected_block(offering)},
    )
    if found.problems:
        problems = [_of_offering(each, offering) for each in found.problems]
        raise ConfigError(problems, stack_file=target.stack_file.name)
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
    stack_file: StackFile, offering: Offering, entry: BlockEntry, found: Preflight
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


def _uses(
    offering: Offering, entry: BlockEntry, found: Preflight, *, is_further: bool
) -> Iterator[str]:
    pools = [] if found.plan is None else found.plan.node_pools
    users = [each for each in pools if each.capacity.purchase_option == entry.name]
    for each in users:
        nodes = f"up to {each.most_nodes} nodes from {utc(offering.starts_at)}"
        further = f", a further block with nodes of its own, {each.name}" if is_further else ""
        yield f"  {each.key}: {nodes}{further}"
    left = offering.instances - sum(each.most_nodes for each in users)
    if left > 0:
        yield f"  {left} of {offering.instances} instances are not used: raise the number of nodes"


def _new_users(stack_file: StackFile, offering: Offering, entry: BlockEntry) -> list[str]:
    """Return the keys of the nodes that get an entry as a further block; none if it has nodes."""
    if any(entry.name in each.purchase_options for each in pools_of(stack_file)):
        return []
    fitting = pools_in_blocks(stack_file, offering.node_type)
    return [p.key for p in fitting if p.purchase_options[0] == fitting[0].purchase_options[0]]


def _read(stack_file: StackFile, text: str) -> StackFile:
    """Return the stack file as it is read with another text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / stack_file.path.name
        write_whole(path, text)
        content = find_stack_file(stack_file.stack, path=path).content
    return dataclasses.replace(stack_file, content=content)


def config_without_blocks(target: Target) -> AnyStackConfig:
    """Return the configuration of a stack whose entries may have no block yet.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
    """
    missing = {
        name: {"reservation_id": EXPECTED_ID} for name in capacity_blocks_of(target.stack_file)
    }
    filled = completed(target.account.completed(target.stack_file), {"reservations": missing})
    reader = network_reader(dataclasses.replace(target, stack_file=filled))
    return config_of(filled, network_of=reader)
