"""A Slurm cluster in Capacity Blocks that are bought, on the sandbox's clock."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.stacks.support.blocks_on_the_clock import SLURM, WARNED, Stacks
from tests.support.processes import until
from tests.support.sandbox import TIMEOUT_SECONDS, Sandbox, copied_stack_file

pytestmark = [pytest.mark.sandbox, pytest.mark.parallelcluster]

RESOURCE = "architecture.queues.compute-gpu.compute_resources.distributed-ml"
IN_A_BLOCK = {
    **WARNED,
    "reservations": {"block": {"kind": "capacity-block"}},
    "storage.fsx.deletion_protection": False,
    "storage.apps.deletion_protection": False,
    "architecture.queues.compute-gpu.purchase_option": "block",
    RESOURCE: {
        "instance_type": "p5.48xlarge",
        "minimum": 2,
        "maximum": 2,
        "efa_enabled": True,
    },
    # ParallelCluster removes a compute resource only in this way.
    "architecture.slurm.queue_update_strategy": "TERMINATE",
}
CHECKPOINT = "trap 'echo checkpoint; exit 0' TERM; echo started; while :; do sleep 1; done"


@pytest.fixture
def stacks(own_sandbox: Sandbox, tmp_path: Path) -> Stacks:
    path = copied_stack_file(tmp_path / "slurm.yaml", IN_A_BLOCK, SLURM)
    return Stacks(own_sandbox, {SLURM: path})


def test_slurm_nodes_live_from_block_to_block(stacks: Stacks) -> None:
    """Rules D8 and D9: two blocks without an update between them, then a third by its id."""
    without = stacks.sandbox.inventory()
    stacks.buy(SLURM)
    first = stacks.block(SLURM)
    stacks.buy(SLURM, first["EndDate"])
    second = stacks.block(SLURM)
    made = stacks.at_once("up", SLURM)
    assert "the cluster is created without its nodes, which launch at that time" in made.said
    assert _compute(stacks) == []
    queue, kept = stacks.subscribe(SLURM), stacks.kept(SLURM)
    waits = _submitted(stacks, "hostname")
    assert _states(stacks)[waits] == "PENDING"

    stacks.advance_to(first["StartDate"] + timedelta(hours=1))
    until(lambda: stacks.in_use(SLURM, 0) == 2, "two instances in the first block")
    until(lambda: _states(stacks)[waits] == "COMPLETED", "the job that waited")
    stacks.was_told_of_the_start(queue)
    _checkpoint_before_the_end(stacks)
    stacks.advance_to(first["EndDate"] - timedelta(minutes=29))
    until(lambda: _compute(stacks) == [], "EC2 to terminate the instances of the block")
    stacks.was_warned(queue)

    stacks.advance_to(second["StartDate"] + timedelta(hours=1))
    until(lambda: stacks.in_use(SLURM) == 2, "two instances in the further block")
    stacks.was_told_of_the_start(queue)
    assert _ran(stacks).splitlines() == ["in the block"]
    stacks.advance_to(second["EndDate"] + timedelta(hours=1))
    until(lambda: _compute(stacks) == [], "EC2 to terminate the instances of the further block")
    stacks.was_warned(queue)

    # The next block, for the entry of the first one; the further block goes with its nodes.
    stacks.buy(SLURM, None, "--entry", "block")
    stacks.remove_block(SLURM, f"block-{second['StartDate']:%m%d}", RESOURCE)
    stacks.at_once("up", SLURM)
    # The warnings of the blocks that are over are deleted.
    assert set(stacks.sandbox.resource_changes(SLURM)) <= {"update", "same", "delete"}
    assert stacks.kept(SLURM) == kept
    stacks.advance_to(stacks.block(SLURM)["StartDate"] + timedelta(hours=1))
    until(lambda: stacks.in_use(SLURM) == 2, "two instances in the next block")

    refused = stacks.sandbox.run("capacity", "release", stacks.blocks[SLURM][-1], "--sandbox")
    assert "AWS neither cancels nor refunds" in refused.stderr
    stacks.operate_after_years(SLURM)
    stacks.at_once("destroy", SLURM)
    left = {*stacks.sandbox.inventory()} - {*without}
    assert {line.split()[0] for line in left} == {"ec2:capacity-reservation"}


def _compute(stacks: Stacks) -> list[str]:
    lines = stacks.sandbox.inventory()
    return [line for line in lines if "parallelcluster:node-type:Compute" in line]


def _states(stacks: Stacks) -> dict[str, str]:
    """Return the states of the jobs, by id."""
    jobs = json.loads(stacks.run("jobs", SLURM, "--json").stdout)
    return {each["id"]: each["state"] for each in jobs}


def _program(stacks: Stacks, command: str, *options: str) -> Iterator[str | Path]:
    """Yield the arguments of `run` for a program on one node."""
    yield from ("run", SLURM, "--sandbox", "--stack-file", stacks.files[SLURM])
    yield from ("--nodes", "1", "--launcher", "none", *options, "--", "bash", "-c", command)


def _submitted(stacks: Stacks, command: str) -> str:
    return stacks.sandbox.must(*_program(stacks, command, "--detach")).stdout.split()[-1]


def _ran(stacks: Stacks) -> str:
    """Run a program to its end, and return its log."""
    said = stacks.sandbox.must(*_program(stacks, "echo in the block")).stdout
    return said.partition("\n")[2]


def _checkpoint_before_the_end(stacks: Stacks) -> None:
    """Run a program, which gets SIGTERM when EC2 is about to terminate its node."""
    with stacks.sandbox.start_command(*_program(stacks, CHECKPOINT)) as process:
        until(lambda: "RUNNING" in _states(stacks).values(), "the program to run")
        stacks.advance_to(stacks.block(SLURM, 0)["EndDate"] - timedelta(minutes=33))
        said, told = process.communicate(timeout=TIMEOUT_SECONDS)
    assert {"started", "checkpoint"} <= {*said.splitlines()}, told
    assert "is COMPLETED" in told
    assert "the program gets SIGTERM at" in told
    assert len(_compute(stacks)) == 2
