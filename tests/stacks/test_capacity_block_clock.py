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


FAULTS = """\
- happens: container-hangs
  job: train
  index: 0
  log: run.log
  stop_log: stop.log
  stop_seconds: 2
- {happens: container-hangs, job: train, index: 1}
"""


def checkpoint_before_the_end(sandbox: Sandbox, path: Path, minutes: float) -> tuple[int, str, str]:
    """Run a program, and let the time pass after it has begun; return exit code, log and messages.

    Args:
        sandbox: Has the cluster.
        path: The stack file.
        minutes: Time from its start until its nodes are about to leave.
    """
    schedule = path.parent / "faults.yaml"
    schedule.write_text(FAULTS, encoding="utf-8")
    (path.parent / "run.log").write_text("step 1\n", encoding="utf-8")
    (path.parent / "stop.log").write_text("checkpoint\n", encoding="utf-8")
    sandbox.must("sandbox", "faults", schedule)
    run = ("run", STACK, "--sandbox", "--stack-file", path, "--image", "pytorch/pytorch:2.11.0")
    with sandbox.start_command(*run, "--", "train.py") as process:
        until(lambda: running_pods(sandbox) == 2, "the program running")
        sandbox.must("sandbox", "advance", "--hours", f"{minutes / 60:.3f}")
        said, told = process.communicate(timeout=120)
    return process.returncode, said, told


def running_pods(sandbox: Sandbox) -> int:
    """Return how many pods of the program run."""
    with sandbox.kubernetes(STACK) as api:
        pods = client.CoreV1Api(api).list_namespaced_pod("default").items
    return sum(each.status.phase == "Running" for each in pods)


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

    # The block has an hour less, and its nodes leave 40 minutes before its end.
    until_checkpoint = (7 * 24 - 1) * 60 - 43
    code, said, told = checkpoint_before_the_end(own_sandbox, path, until_checkpoint)
    assert said.splitlines() == ["train", "step 1", "checkpoint"], told
    assert (code, "the program gets SIGTERM at" in told) == (124, True)
    assert "DeadlineExceeded" in told
    assert p5_nodes(own_sandbox) == launched

    own_sandbox.must("sandbox", "advance", "--hours", "0.25")
    until(lambda: p5_nodes(own_sandbox) == [], "the nodes to have left, 40 minutes before the end")
    at_once.must("destroy", STACK, "--sandbox", "--yes", "--stack-file", path)
    assert not [line for line in own_sandbox.inventory() if line not in before]
