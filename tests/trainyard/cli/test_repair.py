"""`repair`: what it shows, asks and refuses, by the kind of stack."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.bad_nodes import NOW, block, node
from tests.support.stacks import prepared
from tests.trainyard.cli.test_node_replacement import POD, World
from tests.trainyard.cli.test_node_replacement import repair as replacement_of
from trainyard.cli import console, failures
from trainyard.repair.journal import Journal
from trainyard.repair.repair_request import RepairRequest
from trainyard.schedulers.kubernetes import repair as kubernetes_repair
from trainyard.schedulers.slurm import repair as slurm_repair
from trainyard.stack_files.installation import Installation
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of
from trainyard.workspace.target import Target

SLURM_NODE = "compute-gpu-st-distributed-ml-1"
STATE = "State=MIXED+CLOUD\njob 12 train on 4 nodes\n"


def request(stack: str = "p5-cb", **changes: Any) -> RepairRequest:
    values: dict[str, Any] = {
        "target": target_of(find_stack_file(stack), sandbox=False),
        "node": None,
        "dry_run": False,
        "yes": True,
        "drain_limit_minutes": 15,
        "wait_limit_minutes": 30,
    }
    return RepairRequest(**{**values, **changes})


def interrupted(directory: Path) -> World:
    """Return a cluster in which a repair has terminated n1 and was interrupted."""
    world = World([node(1), node(2)])
    world.terminate("i-1")
    Journal(directory / "repair.jsonl").add(NOW, node="n1", step="RepairTerminated")
    return world


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., None]:
    def made(world: World, **changes: Any) -> None:
        asked = request(**changes)
        kubernetes_repair._run(replacement_of(world, tmp_path, asked.node), asked)

    return made


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer every question with no, and return the questions."""
    asked: list[str] = []
    monkeypatch.setattr(console, "at_a_terminal", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text))
    return asked


def test_the_confirmation_names_node_instance_reason_reservation_and_pods(
    run, answered: list[str], capsys
) -> None:
    world = World([node(1), node(2, bad=True)], pods_of={"n2": [POD]})
    with pytest.raises(failures.CancelledError, match="nothing was changed"):
        run(world, yes=False)
    assert answered == ["Replace 1 node of p5-cb; their pods, and the jobs of these, end?"]
    assert world.steps == []
    assert capsys.readouterr().out.splitlines() == [
        "n2 (i-2, node group p5) is replaced now: AcceleratedHardwareReady is False for 14 min",
        "  reservation: cr-0123456789abcdef0; the termination frees the place of the replacement",
        "  evicted: default/train-0, of Job train",
    ]


def test_without_a_terminal_nothing_is_replaced(run) -> None:
    world = World([node(1, bad=True)])
    with pytest.raises(failures.WrongUseError, match="--dry-run"):
        run(world, yes=False)
    assert world.steps == []


def test_a_dry_run_only_reports(run, capsys) -> None:
    world = World([node(1, bad=True), node(2, bad=True)])
    run(world, dry_run=True)
    assert world.steps == []
    said = capsys.readouterr()
    assert "n2 (i-2, node group p5) is replaced when other nodes are Ready again" in said.out
    assert "2 nodes to replace; nothing was changed" in said.err


def test_an_open_reservation_is_a_risk_that_is_told(run, capsys) -> None:
    run(World([node(1, bad=True)], use=block(ends_at=None, is_open=True)), dry_run=True)
    assert "instances of others that match its attributes" in capsys.readouterr().out


def test_good_nodes_need_no_confirmation(run) -> None:
    world = World([node(1), node(2)])
    run(world, yes=False)
    assert world.steps == []


@pytest.mark.parametrize("named", [None, "n1"])
def test_an_interrupted_repair_waits_for_the_replacement_that_is_missing(
    run, tmp_path: Path, named: str | None
) -> None:
    run(world := interrupted(tmp_path), yes=False, node=named)
    assert [each.name for each in world.nodes] == ["n2", "new-i-1"]


def test_nodes_that_are_missing_for_another_reason_are_told_and_not_waited_for(run, capsys) -> None:
    world = World([node(1), node(2)])
    world.terminate("i-1")
    run(world, yes=False)
    assert world.seconds == 0
    assert "node group p5 lacks 1 of its nodes" in capsys.readouterr().out


def test_a_named_node_that_cannot_be_replaced_is_a_failure(run, capsys) -> None:
    world = World([node(1)], use=block(state="expired"))
    with pytest.raises(failures.CommandError, match="n1 was not replaced"):
        run(world, node="n1")
    assert "why not: EC2 launches no instances into cr-0123456789abcdef0" in capsys.readouterr().out
    assert world.steps == []


def test_a_named_node_that_is_good_is_replaced(run) -> None:
    run(world := World([node(1), node(2)]), node="n2")
    assert world.done == ["cordon n2", "terminate i-2"]


@pytest.mark.parametrize(
    ("stack", "words"),
    [
        ("batch-p5", "aws ec2 terminate-instances --region us-west-2 --instance-ids ID"),
        ("vpc-one-az", "is a network"),
        ("pc-gpu", "name the node with --node"),
    ],
)
def test_other_stacks_are_told_what_replaces_their_nodes(trainyard, stack, words) -> None:
    result = trainyard("repair", stack, "--sandbox")
    assert result.exit_code == failures.WRONG_USE
    assert words in result.stderr


@dataclass
class HeadNode:
    """A head node that answers every script with the state of a node."""

    scripts: list[str] = field(default_factory=list[str])

    def run(self, script: str) -> str:
        self.scripts.append(script)
        return STATE


@pytest.fixture
def head_node() -> HeadNode:
    return HeadNode()


def in_checkout(root: Path) -> Target:
    """Return the stack `pc-gpu` of another installation, which has the log of its repairs."""
    file = replace(find_stack_file("pc-gpu"), installation=Installation(root))
    return target_of(replace(file, path=root / file.path.name), sandbox=False)


@pytest.fixture
def drain(head_node: HeadNode, tmp_path: Path) -> Callable[..., None]:
    """Drain a node of `pc-gpu`."""

    def run(**changes: Any) -> None:
        plan: Any = prepared("pc-gpu").plan
        values = {"target": in_checkout(tmp_path), "node": SLURM_NODE, **changes}
        slurm_repair.drain_node(plan, request(**values), lambda *_, **__: nullcontext(head_node))

    return run


def test_a_slurm_node_is_drained_after_its_jobs_were_shown(
    drain, head_node: HeadNode, tmp_path: Path, capsys
) -> None:
    drain()
    assert f"{SLURM_NODE}: State=MIXED+CLOUD\njob 12 train on 4 nodes" in capsys.readouterr().out
    show, update = head_node.scripts
    assert f"scontrol --oneliner show node {SLURM_NODE}" in show
    assert update == (
        f"sudo /opt/slurm/bin/scontrol update nodename={SLURM_NODE} state=drain reason=repair\n"
    )
    log = (tmp_path / ".trainyard" / "pc-gpu.repair.jsonl").read_text(encoding="utf-8")
    assert f'"node": "{SLURM_NODE}"' in log


def test_the_state_of_a_slurm_node_is_read_by_a_real_bash(
    drain, head_node: HeadNode, tmp_path: Path
) -> None:
    drain(dry_run=True)
    for name, says in (
        ("scontrol", "NodeName=x Arch=x86_64 State=MIXED+CLOUD Reason=y"),
        ("squeue", "job 12 train on 4 nodes"),
    ):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
        program.chmod(0o755)
    done = subprocess.run(
        ["bash"],
        input=head_node.scripts[0],
        env={"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == STATE


def test_a_slurm_node_is_not_drained_in_a_dry_run_or_against_the_answer(
    drain, head_node: HeadNode, answered: list[str]
) -> None:
    drain(dry_run=True)
    with pytest.raises(failures.CancelledError):
        drain(yes=False)
    assert not [script for script in head_node.scripts if "update" in script]
    assert answered == [f"Drain {SLURM_NODE}; its jobs run to their end, then it is replaced?"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, "with --node"),
        ("x; reboot", "is no node of ParallelCluster"),
        (f"{SLURM_NODE}; reboot", "is no node of ParallelCluster"),
        (f"{SLURM_NODE}\nreboot", "is no node of ParallelCluster"),
    ],
)
def test_a_slurm_node_must_be_named_as_one(drain, name: str | None, words: str) -> None:
    with pytest.raises(failures.WrongUseError, match=words):
        drain(node=name)
