"""A block is written into a stack file without changing anything else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.capacity_commands import written_stack
from trainyard.capacity.stack_entry import (
    BlockEntry,
    UneditableError,
    chosen_entry,
    entry_values,
    with_entry,
    with_further_block,
)
from trainyard.components.config.problems import Problem
from trainyard.stack_files.stack_files import StackFile, find_stack_file

OLD, NEW = "cr-0123456789abcdef0", "cr-0fedcba9876543210"
BLOCK = """\
config:
  trainyard:cluster:   # mine
    reservations:
      # Why.
      block:
        kind: capacity-block  # paid
{more}    tags: {{a: 'b'}}
"""
FLOW = """\
config:
  trainyard:cluster:
    reservations: {block: {kind: capacity-block}}
"""


def entries(text: str) -> Any:
    return yaml.safe_load(text)["config"]["trainyard:cluster"]["reservations"]


@pytest.mark.parametrize(
    ("more", "values", "lines"),
    [
        ("", {}, [f"        reservation_id: {NEW}"]),
        (f"        reservation_id: {OLD}  # old\n", {}, [f"        reservation_id: {NEW}  # old"]),
        (
            '        instance_count: 2\n        ends_at: "2026-12-01T11:30:00Z"\n',
            {"instance_count": 4, "ends_at": "2026-12-09T11:30:00+00:00"},
            ["        instance_count: 4", '        ends_at: "2026-12-09T11:30:00+00:00"'],
        ),
    ],
)
def test_an_entry_gets_the_values_and_every_other_line_stays(
    more: str, values: dict[str, Any], lines: list[str]
) -> None:
    text = BLOCK.format(more=more)
    changed = with_entry(text, BlockEntry("block", is_new=False), {"reservation_id": NEW, **values})
    assert set(lines) <= set(changed.splitlines())
    assert "# Why." in changed
    assert "# paid" in changed
    assert "tags: {a: 'b'}" in changed


def test_an_entry_in_a_flow_mapping_is_written_there() -> None:
    changed = with_entry(FLOW, BlockEntry("block", is_new=False), {"reservation_id": NEW})
    assert f"{{block: {{kind: capacity-block, reservation_id: {NEW}}}}}" in changed


@pytest.mark.parametrize("text", [BLOCK.format(more=""), FLOW])
def test_a_new_entry_comes_before_the_others_and_their_comments(text: str) -> None:
    changed = with_entry(text, BlockEntry("next", is_new=True), {"reservation_id": NEW})
    assert [*entries(changed)] == ["next", "block"]
    assert entries(changed)["next"] == {"kind": "capacity-block", "reservation_id": NEW}
    lines = changed.splitlines()
    if "      # Why." in lines:
        assert lines.index("      # Why.") + 1 == lines.index("      block:")


@pytest.mark.parametrize(
    "text",
    [
        "config: {}\n",
        "config:\n  trainyard:cluster:\n    reservations: []\n",
        "config:\n  trainyard:cluster:\n    reservations: {block: {kind: capacity-block}}\n"
        "    old: {x: 1}\n".replace("block:", "other:"),
        BLOCK.format(more="")
        .replace("      block:\n", "      block: &b\n")
        .replace("    tags: {a: 'b'}\n", "    copy: *b\n"),
    ],
)
def test_a_form_that_cannot_be_written_safely_is_an_error(text: str) -> None:
    with pytest.raises(UneditableError):
        with_entry(text, BlockEntry("block", is_new=False), {"reservation_id": NEW})


@given(
    name=st.from_regex(r"[a-z][a-z0-9-]{0,20}", fullmatch=True).filter(
        lambda each: each not in ("block", "y", "n", "yes", "no", "on", "off", "null", "true")
    ),
    is_crlf=st.booleans(),
    comment=st.sampled_from(["", "      # second\n", "\n"]),
)
def test_any_file_has_only_the_new_values_more(name: str, is_crlf: bool, comment: str) -> None:
    text = BLOCK.format(more="").replace("      # Why.\n", f"{comment}      # Why.\n")
    text = text.replace("\n", "\r\n") if is_crlf else text
    both = with_entry(text, BlockEntry(name, is_new=True), {"reservation_id": OLD})
    both = with_entry(both, BlockEntry("block", is_new=False), {"reservation_id": NEW})
    assert ("\r\n" in both) is is_crlf
    assert both.count("\n") == text.count("\n") + 4
    assert not {*text.splitlines()} - {*both.splitlines()}
    assert {each: found["reservation_id"] for each, found in entries(both).items()} == {
        name: OLD,
        "block": NEW,
    }


def test_zone_times_and_number_are_written_where_the_entry_has_them() -> None:
    block = {
        "reservation_id": NEW,
        "instance_count": 4,
        "availability_zone": "us-west-2b",
        "starts_at": "2026-12-01T11:30:00+00:00",
        "ends_at": "2026-12-08T11:30:00+00:00",
    }
    assert entry_values({"kind": "capacity-block"}, **block) == {"reservation_id": NEW}
    assert entry_values({**block, "kind": "capacity-block"}, **block) == block
    assert entry_values({}, **block, upfront_fee_usd=100.5) == {
        "reservation_id": NEW,
        "upfront_fee_usd": 100.5,
    }


@pytest.fixture
def stack(tmp_path: Path):
    def read(*changes: tuple[str, str]) -> StackFile:
        return find_stack_file("prod-a", path=written_stack(tmp_path, *changes))

    return read


TWO = (
    "      block:\n",
    f"      old: {{kind: capacity-block, reservation_id: {OLD}}}\n      block:\n",
)


HELD = (
    "        kind: capacity-block\n",
    f"        kind: capacity-block\n        reservation_id: {OLD}\n",
)
LEFT = (
    "      block:\n",
    f"      left: {{kind: capacity-block, reservation_id: {NEW}}}\n      block:\n",
)
FURTHER = ("          desired: 2\n", "          desired: 2\n          further_blocks: [left]\n")
ANOTHER = (
    "        p5:\n",
    "        p4d: {instance_type: p4d.24xlarge, purchase_option: left, desired: 0}\n        p5:\n",
)
TAKEN = ("      block:\n", "      block-1208: {kind: odcr, reservation_id: cr-0}\n      block:\n")
STARTS_AT = datetime(2026, 12, 8, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "asked", "usable", "found"),
    [
        ((), "", {}, BlockEntry("block", is_new=False)),
        ((), "next", {}, BlockEntry("next", is_new=True)),
        ((), "block", {}, BlockEntry("block", is_new=False)),
        ((TWO,), "", {OLD: "until Monday"}, BlockEntry("block", is_new=False)),
        ((TWO,), "old", {}, BlockEntry("old", is_new=False)),
        ((TWO,), "", {}, BlockEntry("block", is_new=False)),
        ((LEFT, FURTHER), "", {}, "several entries"),
        ((LEFT, HELD), "", {OLD: "until Monday"}, BlockEntry("block-1208", is_new=True)),
        ((LEFT, HELD), "left", {OLD: "until Monday"}, BlockEntry("left", is_new=False)),
        ((LEFT, HELD, FURTHER), "", {OLD: "until Monday"}, BlockEntry("left", is_new=False)),
        ((LEFT, HELD, ANOTHER), "", {OLD: "until Monday"}, BlockEntry("block-1208", is_new=True)),
        ((TWO,), "old", {OLD: "until Monday"}, "`old` has a block that can be used until Monday"),
        ((HELD,), "", {OLD: "until Monday"}, BlockEntry("block-1208", is_new=True)),
        ((TAKEN,), "block-1208", {}, "this entry of `reservations` is no Capacity Block"),
        ((HELD, TAKEN), "", {OLD: "until Monday"}, BlockEntry("block-1208-2", is_new=True)),
        (
            (("kind: capacity-block", "kind: odcr"),),
            "",
            {},
            "no entry is a Capacity Block",
        ),
    ],
)
def test_the_entry_is_the_one_of_the_nodes_without_a_usable_block(
    stack, changes: tuple[Any, ...], asked: str, usable: dict[str, str], found: BlockEntry | str
) -> None:
    chosen = chosen_entry(
        stack(*changes), asked, usable.get, instance_type="p5.48xlarge", starts_at=STARTS_AT
    )
    if isinstance(found, BlockEntry):
        assert chosen == found
    else:
        assert isinstance(chosen, Problem)
        assert found in chosen.problem


POOLS = """\
config:
  trainyard:cluster:
    architecture:
      node_groups:
        p5:  # mine
          instance_type: p5.48xlarge  # two
{blocks}          desired: 2
        flow: {{instance_type: p5.48xlarge, desired: 2}}
"""


@pytest.mark.parametrize(
    ("blocks", "line"),
    [
        ("", "          further_blocks: [next]"),
        ("          further_blocks: []  # none\n", "          further_blocks: [next]  # none"),
        ("          further_blocks: [a]\n", "          further_blocks: [a, next]"),
        ("          further_blocks:\n          - a  # paid\n", "          - next"),
        ("          further_blocks:\n            - a\n", "            - next"),
    ],
    ids=["absent", "empty", "flow", "block", "indented"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_pool_gets_one_more_block_and_every_other_line_stays(
    blocks: str, line: str, end: str
) -> None:
    text = POOLS.format(blocks=blocks).replace("\n", end)
    changed = with_further_block(text, "architecture.node_groups.p5", "next")
    assert line in changed.splitlines()
    assert len({*text.splitlines()} - {*changed.splitlines()}) <= 1
    assert ("\r\n" in changed) is (end == "\r\n")


def test_a_pool_in_a_flow_mapping_gets_a_block_there() -> None:
    changed = with_further_block(POOLS.format(blocks=""), "architecture.node_groups.flow", "next")
    assert "flow: {instance_type: p5.48xlarge, further_blocks: [next], desired: 2}" in changed


@pytest.mark.parametrize(
    "text",
    [
        POOLS.format(blocks="          further_blocks: next\n"),
        POOLS.format(blocks="").replace("p5:  # mine", "other:"),
    ],
)
def test_a_pool_that_cannot_be_edited_safely_is_an_error(text: str) -> None:
    with pytest.raises(UneditableError):
        with_further_block(text, "architecture.node_groups.p5", "next")
