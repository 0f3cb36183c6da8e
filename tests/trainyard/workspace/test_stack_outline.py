"""The row of a stack in `list` follows from its file, even if it lacks ids or is invalid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.stacks import STACKS
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_config import plan_of
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile, find_stack_file
from trainyard.stack_files.stack_outline import capacity_blocks_of, instance_types_of, nodes_of


def of(cluster: Any) -> StackFile:
    return StackFile("x", Path("Pulumi.x.yaml"), {"config": {CLUSTER_KEY: cluster}})


@pytest.mark.parametrize(
    ("stack", "nodes"),
    [
        ("p5-cb", ["2 x p5.48xlarge"]),
        ("batch-p5", ["0 to 2 x p5.48xlarge"]),
        ("pc-p4de-g5", ["4 x p4de.24xlarge", "0 to 10 x g5.12xlarge"]),
        ("vpc-one-az", []),
    ],
)
def test_the_nodes_are_those_of_jobs(stack: str, nodes: list[str]) -> None:
    found = find_stack_file(stack)
    assert nodes_of(found) == nodes
    assert instance_types_of(found) == [each.rpartition(" ")[2] for each in nodes]


@pytest.mark.parametrize("stack", STACKS)
def test_every_instance_type_of_an_example_is_one_of_its_node_pools(stack: str) -> None:

    found = find_stack_file(stack)
    plan = plan_of(completed(found, sandbox_completion(found)))
    assert all(f"'{name}'" in repr(plan) for name in instance_types_of(found))


def test_only_capacity_blocks_end() -> None:
    block = {"kind": "capacity-block", "ends_at": "2026-12-01T11:30:00Z"}
    found = of({"reservations": {"a": {"kind": "odcr"}, "b": block, "c": "text"}})
    assert [*capacity_blocks_of(found).values()] == [block]


@pytest.mark.parametrize(
    "cluster", [None, 5, [], {"architecture": 1}, {"architecture": {"queues": {"a": "b"}}}]
)
def test_a_malformed_file_has_no_nodes(cluster: Any) -> None:
    assert nodes_of(of(cluster)) == []
    assert capacity_blocks_of(of(cluster)) == {}
