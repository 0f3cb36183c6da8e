"""Node pools with several Capacity Blocks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.batch import P5
from tests.support.eks import (
    STACK_FILE,
    changed,
    config,
    schema_problems,
)
from trainyard.components.config.load import load_stack_config

KEY = "architecture.node_groups.p5.further_blocks"
BLOCKS = [f"month-{number}" for number in range(4)]


def block(number: int, **settings: Any) -> dict[str, Any]:
    return {
        "kind": "capacity-block",
        "reservation_id": f"cr-0cb0000000000000{number}",
        **settings,
    }


def with_blocks(*names: str, **changes: Any) -> dict[str, Any]:
    """Return a stack file whose node group `p5` has further blocks, of which `odcr` is none."""
    raw = changed(architecture__node_groups__p5__further_blocks=[*names], **changes)
    raw["reservations"] |= {name: block(number) for number, name in enumerate(BLOCKS)}
    raw["reservations"]["odcr"] = {"kind": "odcr", "reservation_id": "cr-00000000000000009"}
    return raw


def test_each_further_block_has_nodes_with_the_settings_of_the_first_one():
    raw = with_blocks("month-0", "month-1", architecture__node_groups__p5__labels={"team": "a"})
    groups = config(raw).architecture.node_groups
    assert {name: group.purchase_option for name, group in groups.items()} == {
        "p5": "block",
        "p5-month-0": "month-0",
        "p5-month-1": "month-1",
    }
    assert {group.pool_named(name) for name, group in groups.items()} == {"p5"}
    same = {"purchase_option": "block", "further_blocks": groups["p5"].further_blocks}
    for group in groups.values():
        assert dict(group) | same == dict(groups["p5"])


def test_the_zone_of_the_first_block_is_not_that_of_the_others():
    raw = with_blocks("month-0", architecture__node_groups__p5__availability_zone="us-west-2b")
    groups = config(raw).architecture.node_groups
    zones = {name: group.availability_zone for name, group in groups.items()}
    assert zones == {"p5": "us-west-2b", "p5-month-0": None}


def test_problems_name_keys_of_the_stack_file():
    (first, second) = config(with_blocks("month-0")).pools()
    assert (first.key, first.wanted_key) == (second.key, second.wanted_key)
    assert first.launch_key != second.launch_key


@given(st.lists(st.sampled_from(BLOCKS), unique=True), st.sampled_from(BLOCKS))
def test_nodes_of_other_blocks_stay_when_a_block_is_added_or_removed(names: list[str], name: str):
    others = [each for each in names if each != name]
    before = config(with_blocks(*others)).architecture.node_groups
    after = config(with_blocks(*others, name)).architecture.node_groups
    assert after.keys() - before.keys() == {f"p5-{name}"}
    for kept in before.keys() - {"p5"}:
        assert before[kept] == after[kept]
    assert before["p5"] == after["p5"].model_copy(update={"further_blocks": (*others,)})


@pytest.mark.parametrize(
    ("raw", "key", "problem"),
    [
        (with_blocks("unknown"), f"{KEY}[0]", "not the name of a Capacity Block"),
        (with_blocks("odcr"), f"{KEY}[0]", "not the name of a Capacity Block"),
        (with_blocks("month-0", "month-0"), f"{KEY}[1]", "a block of these nodes already"),
        (with_blocks("block"), f"{KEY}[0]", "a block of these nodes already"),
        (
            with_blocks("month-0", architecture__node_groups__p5__purchase_option="odcr"),
            KEY,
            "adds Capacity Blocks to nodes whose purchase option, `odcr`, is none",
        ),
        (
            with_blocks(
                "month-0",
                **{
                    "architecture__node_groups__p5-month-0": {
                        "instance_type": "g4dn.xlarge",
                        "desired": 0,
                        "maximum": 1,
                    }
                },
            ),
            f"{KEY}[0]",
            "is the name of another entry of `architecture.node_groups`",
        ),
    ],
    ids=["unknown", "odcr", "twice", "first", "no-block", "name"],
)
def test_blocks_that_cannot_be_added_are_refused(raw: dict[str, Any], key: str, problem: str):
    found = schema_problems(raw)
    assert list(found) == [key]
    assert problem in found[key].problem


def test_a_misspelled_block_is_corrected():
    found = schema_problems(with_blocks("mnth-1"))
    assert found[f"{KEY}[0]"].remedy.endswith("further_blocks[0]' month-1")


def test_names_that_the_architecture_does_not_allow_are_refused():
    """A compute environment has a name of at most 48 characters."""
    raw = {**P5, "reservations": {**P5["reservations"], "n" * 60: block(1)}}
    environments = P5["architecture"]["compute_environments"]
    (name,) = environments
    more = {name: {**environments[name], "further_blocks": ["n" * 60]}}
    raw["architecture"] = {**P5["architecture"], "compute_environments": more}
    found = schema_problems(raw)
    (problem,) = found.values()
    assert "at most 48 letters" in problem.problem
    assert "rename the entry" in problem.remedy


def test_a_queue_gives_its_purchase_option_to_its_compute_resources():
    raw = {
        "name": "pc",
        "network": changed()["network"],
        "reservations": {"block": block(0), "next": block(1)},
        "architecture": {
            "kind": "parallelcluster",
            "queues": {
                "gpu": {
                    "purchase_option": "block",
                    "compute_resources": {
                        "p5": {
                            "instance_type": "p5.48xlarge",
                            "minimum": 2,
                            "maximum": 2,
                            "further_blocks": ["next"],
                        }
                    },
                }
            },
        },
    }
    found = load_stack_config(raw, stack_file=STACK_FILE)
    assert [(pool.name, pool.purchase_option) for pool in found.pools()] == [
        ("gpu/p5", "block"),
        ("gpu/p5-next", "next"),
    ]
    assert len({pool.wanted_key for pool in found.pools()}) == 1
