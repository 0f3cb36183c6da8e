"""A Capacity Block that has not started: nodes launch at its start and terminate before its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from kubernetes import client

from tests.support.sandbox import Sandbox, copied_stack_file
from tests.support.waiting import until

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
SCHEDULED_BLOCK = "cr-0cb00000000000001"
"""Starts in two days and ends in nine; `sandbox/account/fixture.yaml`."""


def p5_nodes(sandbox: Sandbox) -> list[str]:
    """Return the names of the Ready nodes that offer GPUs."""
    with sandbox.kubernetes(STACK) as api:
        nodes = client.CoreV1Api(api).list_node().items
    return [n.metadata.name for n in nodes if n.status.allocatable.get("nvidia.com/gpu") == "8"]


def test_nodes_come_when_the_block_begins_and_go_before_it_ends(
    own_sandbox: Sandbox, tmp_path: Path
) -> None:
    """Rules D8 and D9, EKN-16."""
    at_once, before = own_sandbox.without_preview(), own_sandbox.inventory()
    path = copied_stack_file(
        tmp_path / "scheduled.yaml", {"reservations.block.reservation_id": SCHEDULED_BLOCK}
    )
    up = at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", path)
    assert "until then there are no nodes, then 2 launch automatically" in up.stdout
    assert p5_nodes(own_sandbox) == []

    timeline = ("timeline", STACK, "--sandbox", "--stack-file", path)
    assert f"{SCHEDULED_BLOCK}, scheduled" in own_sandbox.must(*timeline).stdout
    own_sandbox.must("sandbox", "advance", "--hours", "49")
    assert f"{SCHEDULED_BLOCK}, active" in own_sandbox.must(*timeline).stdout
    until(lambda: len(p5_nodes(own_sandbox)) == 2, "two nodes of the block")
    launched = p5_nodes(own_sandbox)
    at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", path)
    for command in ("up", "refresh", "up"):
        at_once.must(command, STACK, "--sandbox", "--yes", "--stack-file", path)
        assert set(own_sandbox.resource_changes(STACK)) == {"same"}
    assert p5_nodes(own_sandbox) == launched
    live = own_sandbox.must("check", STACK, "--live", "--sandbox", "--stack-file", path)
    assert "days from now" not in live.stdout

    own_sandbox.must("sandbox", "advance", "--hours", str(7 * 24 - 1 - 0.5))
    until(lambda: p5_nodes(own_sandbox) == [], "the nodes to have left, 40 minutes before the end")
    at_once.must("destroy", STACK, "--sandbox", "--yes", "--stack-file", path)
    assert not [line for line in own_sandbox.inventory() if line not in before]
