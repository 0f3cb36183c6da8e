"""The entry of a stack file for a Capacity Block: which one, and its text.

The text is changed at the positions of the YAML nodes, so that everything else in a file of the
user stays as it is: comments, order, quotes and line ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, count
from typing import Any

import yaml

from trainyard.capacity.stack_pool import pools_in_blocks
from trainyard.capacity.yaml_places import UneditableError, child, line_end, newline
from trainyard.components.config.problems import ROOT, Problem
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile
from trainyard.stack_files.stack_outline import capacity_blocks_of, reservations_of

_PATH = ("config", CLUSTER_KEY, "reservations")
_ID = "reservation_id"


@dataclass(frozen=True, slots=True)
class Entry:
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
) -> Entry | Problem:
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
        return Entry(asked, is_new=True)
    # No nodes would use a block in another entry, such as one that was taken out of a pool.
    pools = pools_in_blocks(stack_file, instance_type)
    used = {name for pool in pools for name in pool.purchase_options} or {*entries}
    held = {name: in_use(str(entry.get(_ID, ""))) for name, entry in entries.items()}
    free = [name for name, until in held.items() if until is None]
    free = [name for name in free if (name == asked if asked else name in used)]
    if len(free) == 1:
        return Entry(free[0], is_new=False)
    if free:
        return Problem(
            path="--entry",
            problem="several entries of `reservations` have no block that can be used",
            allowed=", ".join(free),
            remedy="add `--entry` with the one that gets the new block",
        )
    if not asked:
        return Entry(_new_name(starts_at, set(reservations_of(stack_file))), is_new=True)
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


def with_entry(text: str, entry: Entry, values: Mapping[str, Any]) -> str:
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


def _with_values(document: Any, entry: Entry, values: Mapping[str, Any]) -> Any:
    """Return a document with the values of an entry, without changing it."""
    result = {**document}
    here = result
    for key in _PATH:
        here[key] = {**here[key]}
        here = here[key]
    old = here.get(entry.name, {"kind": "capacity-block"})
    here[entry.name] = {**old, **{key: yaml.safe_load(_yaml(v)) for key, v in values.items()}}
    return result


def _changed(text: str, entry: Entry, values: Mapping[str, Any]) -> str:
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
