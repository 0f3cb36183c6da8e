"""A Capacity Block that is bought: nodes launch at its start and terminate before its end."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kubernetes import client

from tests.support.sandbox import Sandbox, copied_stack_file
from tests.support.waiting import until

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"


def bought_block(sandbox: Sandbox, path: Path) -> tuple[str, datetime]:
    """Search and buy a block of a week that starts in two days; return its id and start."""
    start = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M+00:00}"
    search = ("--type", "p5.48xlarge", "--nodes", "2", "--days", "7", "--from", start)
    said = sandbox.must("capacity", "search", *search, "--sandbox", "--json").stdout
    offerings = json.loads(said)["offerings"]
    found = next(e for e in offerings if (e["zone"], e["hours"]) == ("us-west-2b", 168))
    price = ("--price", found["fee"], "--stack-file", path, "--sandbox")
    said = sandbox.must("capacity", "buy", found["offering_id"], "--for", STACK, *price).stdout
    (block,) = re.findall(r"bought (cr-[0-9a-f]{17})", said)
    return block, datetime.fromisoformat(found["starts_at"])


def p5_nodes(sandbox: Sandbox) -> list[str]:
    """Return the names of the Ready nodes that offer GPUs."""
    with sandbox.kubernetes(STACK) as api:
        nodes = client.CoreV1Api(api).list_node().items
    return [n.metadata.name for n in nodes if n.status.allocatable.get("nvidia.com/gpu") == "8"]


def test_nodes_come_when_the_block_begins_and_go_before_it_ends(
    own_sandbox: Sandbox, tmp_path: Path
) -> None:
    """Rules D8 and D9, EKN-16."""
    at_once = own_sandbox.without_preview()
    path = copied_stack_file(tmp_path / "scheduled.yaml", {})
    block, starts_at = bought_block(own_sandbox, path)
    before = own_sandbox.inventory()
    up = at_once.must("up", STACK, "--sandbox", "--yes", "--stack-file", path)
    assert "until then there are no nodes, then 2 launch automatically" in up.stdout
    assert p5_nodes(own_sandbox) == []

    timeline = ("timeline", STACK, "--sandbox", "--stack-file", path)
    assert f"{block}, scheduled" in own_sandbox.must(*timeline).stdout
    hours = (starts_at - datetime.now(UTC)) / timedelta(hours=1)
    own_sandbox.must("sandbox", "advance", "--hours", f"{hours + 1:.2f}")
    assert f"{block}, active" in own_sandbox.must(*timeline).stdout
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
