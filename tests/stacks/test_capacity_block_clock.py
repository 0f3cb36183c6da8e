"""Capacity Blocks that are bought, on the sandbox's clock: EKS and Batch, from block to block."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.stacks.support.blocks_on_the_clock import (
    BATCH,
    EKS,
    WARNED,
    Stacks,
)
from tests.support.processes import until
from tests.support.sandbox import TIMEOUT_SECONDS, Sandbox, copied_stack_file

pytestmark = pytest.mark.sandbox


@pytest.fixture
def stacks(own_sandbox: Sandbox, tmp_path: Path) -> Stacks:
    files = {
        EKS: copied_stack_file(tmp_path / "eks.yaml", WARNED),
        BATCH: copied_stack_file(tmp_path / "batch.yaml", WARNED, BATCH),
    }
    return Stacks(own_sandbox, files)


FAULTS = """\
- happens: container-hangs
  job: train
  index: 0
  log: run.log
  stop_log: stop.log
  stop_seconds: 2
- {happens: container-hangs, job: train, index: 1}
"""


def test_nodes_come_and_go_with_their_block_and_move_to_the_next_one(stacks: Stacks) -> None:
    """Rules D8 and D9, EKN-16."""
    both, without = (EKS, BATCH), stacks.sandbox.inventory()
    for stack in both:
        stacks.buy(stack)
    made = {stack: stacks.at_once("up", stack).stdout for stack in both}
    assert "until then there are no nodes, then 2 launch automatically" in made[EKS]
    assert stacks.gpu_nodes() == []
    queues = [stacks.subscribe(stack) for stack in both]
    kept = {stack: stacks.kept(stack) for stack in both}
    job = stacks.run("job", BATCH, "nccl-tests", "--submit").stdout.split()[-1]

    _start_the_block(stacks, queues)
    _nothing_changes_in_the_block(stacks)
    _checkpoint_before_the_end(stacks)
    _end_the_block(stacks, queues)
    (waited,) = json.loads(stacks.run("jobs", BATCH, "--json").stdout)
    assert (waited["id"], waited["state"]) == (job, "SUCCEEDED")
    late = _submit_to_a_closed_environment(stacks)

    # The next block, in the same stacks: nothing that outlives a block is replaced.
    stacks.advance_to(stacks.block(EKS)["EndDate"] + timedelta(hours=1))
    assert stacks.state_of_job(late) == "RUNNABLE"
    for stack in both:
        stacks.buy(stack)
        stacks.at_once("up", stack)
        changes = stacks.sandbox.resource_changes(stack)
        assert changes["update"] > 0
        assert set(changes) <= {"update", "same", "create", "delete"}
        assert stacks.kept(stack) == kept[stack]
    assert len({*stacks.blocks[EKS], *stacks.blocks[BATCH]}) == 4
    assert stacks.environment_state() == "DISABLED"
    _start_the_block(stacks, queues)
    until(lambda: stacks.state_of_job(late) == "SUCCEEDED", "the job that has waited")
    stacks.at_once("up", BATCH)
    assert stacks.environment_state() == "ENABLED"
    _end_the_block(stacks, queues)

    for stack in both:
        stacks.operate_after_years(stack)
        stacks.at_once("destroy", stack)
    left = {*stacks.sandbox.inventory()} - {*without}
    assert {line.split()[0] for line in left} == {"ec2:capacity-reservation"}


def test_a_further_block_takes_over_without_an_update_at_that_moment(
    stacks: Stacks, tmp_path: Path
) -> None:
    """With managed node groups; those of the test above are self-managed."""
    managed = {"architecture.node_groups.p5.management": "managed"}
    stacks.files[EKS] = copied_stack_file(tmp_path / "managed.yaml", managed)
    stacks.buy(EKS)
    stacks.at_once("up", EKS)
    first = stacks.block(EKS)
    stacks.advance_to(first["StartDate"] + timedelta(hours=1))
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the first block")
    launched = stacks.gpu_nodes()

    stacks.buy(EKS, first["EndDate"])
    second = stacks.block(EKS)
    assert second["StartDate"] >= first["EndDate"]
    assert "further_blocks: [block-" in stacks.files[EKS].read_text()
    stacks.at_once("up", EKS)
    assert stacks.sandbox.resource_changes(EKS)["create"] > 0
    assert stacks.gpu_nodes() == launched
    timeline = stacks.run("timeline", EKS, "--stack-file", stacks.files[EKS]).stdout
    assert all(block in timeline for block in stacks.blocks[EKS])

    stacks.advance_to(first["EndDate"] - timedelta(minutes=35))
    until(lambda: stacks.gpu_nodes() == [], "the nodes of the first block to have left")
    stacks.advance_to(second["StartDate"] + timedelta(hours=1))
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the further block")
    assert stacks.in_use(EKS) == 2
    stacks.run("check", EKS, "--live", "--stack-file", stacks.files[EKS])
    # The block that is over stops no update, and the nodes of the other one stay.
    launched = stacks.gpu_nodes()
    stacks.at_once("refresh", EKS)
    stacks.buy(EKS, second["EndDate"], "--entry", "third")
    stacks.at_once("up", EKS)
    assert stacks.gpu_nodes() == launched

    stacks.advance_to(second["EndDate"] - timedelta(minutes=35))
    until(lambda: stacks.gpu_nodes() == [], "the nodes of the further block to have left")
    stacks.advance_to(stacks.block(EKS)["StartDate"] + timedelta(hours=1))
    until(lambda: stacks.in_use(EKS) == 2, "two instances in the third block")
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the third block")
    launched = stacks.gpu_nodes()
    # A block that is over has no nodes to lose: it goes without --replace.
    stacks.remove_block(EKS, f"block-{second['StartDate']:%m%d}", "architecture.node_groups.p5")
    stacks.at_once("up", EKS)
    changes = stacks.sandbox.resource_changes(EKS)
    assert changes["delete"] > 0
    assert set(changes) <= {"update", "same", "delete"}
    assert stacks.gpu_nodes() == launched
    stacks.at_once("destroy", EKS)


def _start_the_block(stacks: Stacks, queues: list[str]) -> None:
    """Advance the clock to the blocks of both stacks, which start and end at the same time."""
    timeline = ("timeline", EKS, "--stack-file", stacks.files[EKS])
    block = stacks.block(EKS)
    assert f"{stacks.blocks[EKS][-1]}, scheduled" in stacks.run(*timeline).stdout
    stacks.advance_to(block["StartDate"] + timedelta(hours=1))
    assert f"{stacks.blocks[EKS][-1]}, active" in stacks.run(*timeline).stdout
    until(lambda: len(stacks.gpu_nodes()) == 2, "two nodes of the block")
    assert stacks.in_use(EKS) == 2
    until(lambda: stacks.in_use(BATCH) == 2, "two nodes for the job")
    for queue in queues:
        stacks.was_told_of_the_start(queue)


def _nothing_changes_in_the_block(stacks: Stacks) -> None:
    """Run commands that leave the nodes of the block as they are."""
    launched = stacks.gpu_nodes()
    for command in ("up", "refresh", "up"):
        stacks.at_once(command, EKS)
    assert set(stacks.sandbox.resource_changes(EKS)) == {"same"}
    assert stacks.gpu_nodes() == launched
    live = stacks.run("check", EKS, "--live", "--stack-file", stacks.files[EKS])
    assert "days from now" not in live.stdout


def _checkpoint_before_the_end(stacks: Stacks) -> None:
    """Run a program, which gets SIGTERM when its nodes are about to leave."""
    directory = stacks.files[EKS].parent
    schedule = directory / "faults.yaml"
    schedule.write_text(FAULTS, encoding="utf-8")
    (directory / "run.log").write_text("step 1\n", encoding="utf-8")
    (directory / "stop.log").write_text("checkpoint\n", encoding="utf-8")
    stacks.sandbox.must("sandbox", "faults", schedule)
    options = ("--sandbox", "--stack-file", stacks.files[EKS], "--image", "pytorch/pytorch:2.11.0")
    with stacks.sandbox.start_command("run", EKS, *options, "--", "train.py") as process:
        until(lambda: stacks.running_pods() == 2, "the program running")
        stacks.advance_to(stacks.block(EKS)["EndDate"] - timedelta(minutes=43))
        said, told = process.communicate(timeout=TIMEOUT_SECONDS)
    assert said.splitlines() == ["train", "step 1", "checkpoint"], told
    assert (process.returncode, "the program gets SIGTERM at" in told) == (124, True)
    assert "failed with exit code 124 matching FailJob rule" in told
    assert len(stacks.gpu_nodes()) == 2


def _submit_to_a_closed_environment(stacks: Stacks) -> str:
    """Submit a job in the last 40 minutes of a block; return its id."""
    until(lambda: stacks.environment_state() == "DISABLED", "the compute environment to close")
    status = stacks.run("status", BATCH, "--stack-file", stacks.files[BATCH]).stdout
    assert "jobs start from its start" in " ".join(status.replace("│", " ").split())
    return stacks.run("job", BATCH, "nccl-tests", "--submit").stdout.split()[-1]


def _end_the_block(stacks: Stacks, queues: list[str]) -> None:
    """Advance the clock to the time after EC2 has terminated the instances of the blocks."""
    stacks.advance_to(stacks.block(EKS)["EndDate"] - timedelta(minutes=35))
    until(lambda: stacks.gpu_nodes() == [], "the nodes to have left, 40 minutes before the end")
    for queue in queues:
        stacks.was_warned(queue)
