"""Node pools with Capacity Blocks in a stack file, and a further block of one in its text."""

from __future__ import annotations

from typing import Any

import yaml

from trainyard.capacity.yaml_places import UneditableError, child, line_end, newline
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile
from trainyard.stack_files.stack_outline import PoolOutline, capacity_blocks_of, pools_of

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
