"""`repair --watch`: looks, repairs and errors, in a cluster of the test; its end with SIGTERM."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_code_blocks import problem_of
from tests.support.bad_nodes import block, node
from tests.support.tracked import ROOT
from tests.trainyard.cli.test_node_replacement import World
from tests.trainyard.cli.test_node_replacement import repair as replacement_of
from tests.trainyard.cli.test_repair import interrupted, request
from trainyard.cli import failures
from trainyard.repair import repair_watch
from trainyard.repair.journal import Journal
from trainyard.repair.repair_watch import StoppedError, Watch, watch
from trainyard.schedulers.kubernetes import repair as kubernetes_repair
from trainyard.workspace.locks import StackLockedError


@pytest.fixture
def watching(tmp_path: Path) -> Callable[..., Watch]:
    """Watch a cluster of the test; every repair takes the lock, and gives it back."""

    def made(world: World, **changes: Any) -> Watch:
        @contextmanager
        def opened(*_: object) -> Iterator[Any]:
            yield replacement_of(world, tmp_path)

        @contextmanager
        def locked(*_: object, **__: object) -> Iterator[None]:
            world.steps.append("Repair: lock")
            yield
            world.steps.append("Repair: unlock")

        plan: Any = None
        repair = partial(kubernetes_repair.repair_cluster, opened=opened, alone=locked)
        return Watch(lambda: (plan, request(**changes)), opened, repair)

    return made


def test_a_look_at_good_nodes_takes_no_lock_and_is_told_once(watching, capsys) -> None:
    world = World([node(1), node(2)])
    watched = watching(world)
    for _ in range(3):
        watched.look()
    assert world.steps == []
    assert capsys.readouterr().out == "p5-cb: no node is bad\n"


def test_a_node_that_becomes_bad_is_replaced_at_the_next_look(watching) -> None:
    world = World([node(1), node(2)])
    watched = watching(world)
    watched.look()
    world.nodes[1] = node(2, bad=True)
    watched.look()
    assert world.done == ["cordon n2", "terminate i-2"]
    assert (world.steps[0], world.steps[-1]) == ("Repair: lock", "Repair: unlock")
    steps = [*world.steps]
    watched.look()
    assert world.steps == steps


def test_a_dry_watch_only_reports_what_is_new(watching, capsys) -> None:
    world = World([node(1), node(2, bad=True)])
    watched = watching(world, dry_run=True, yes=False)
    for _ in range(2):
        watched.look()
    assert world.steps == []
    said = capsys.readouterr().out
    assert said.count("n2 (i-2, node group p5) is replaced now") == 1
    world.nodes[0] = node(1, bad=True)
    watched.look()
    assert "is replaced when other nodes are Ready again" in capsys.readouterr().out


def test_an_obstacle_is_told_once_and_nothing_is_replaced(watching, capsys) -> None:
    world = World([node(1, bad=True)], use=block(state="expired"))
    watched = watching(world)
    for _ in range(3):
        watched.look()
    assert world.steps == []
    assert capsys.readouterr().out.count("why not: ") == 1


def test_a_repair_that_was_interrupted_is_continued(watching, tmp_path: Path) -> None:
    world = interrupted(tmp_path)
    watching(world).look()
    assert [each.name for each in world.nodes] == ["n2", "new-i-1"]


def test_a_bad_node_waits_for_a_missing_one_and_is_replaced_at_the_same_look(watching) -> None:
    world = World([node(1), node(2, bad=True)])
    world.terminate("i-1")
    watching(world).look()
    assert world.done == ["terminate i-1", "cordon n2", "terminate i-2"]


def test_a_node_that_cannot_be_drained_is_tried_again(watching, capsys, tmp_path: Path) -> None:
    world = World([node(1, bad=True)], launch_polls=None)
    watched = watching(world)
    watched.look()
    assert "Auto Scaling continues" in capsys.readouterr().err
    assert Journal(tmp_path / "repair.jsonl").last_step() == "RepairTerminated"
    world.launch_polls = 1
    watched.look()
    assert [each.name for each in world.nodes] == ["new-i-1"]


@pytest.mark.parametrize(
    "error", [StackLockedError("up is running"), failures.CommandError("no cluster")]
)
def test_an_error_of_a_look_does_not_end_the_watch(error: Exception, capsys) -> None:
    def load() -> Any:
        raise error

    Watch(load).look()
    assert f"{error}; the watch goes on" in capsys.readouterr().err


@pytest.mark.parametrize("error", [StoppedError(), KeyError("bug")])
def test_the_end_and_a_bug_end_it(error: Exception) -> None:
    def load() -> Any:
        raise error

    with pytest.raises(type(error)):
        Watch(load).look()


def test_sigterm_ends_the_next_pause_of_a_repair(watching, monkeypatch, capsys, tmp_path) -> None:
    """What has begun stays in the journal."""
    world = World([node(1, bad=True)], launch_polls=None)
    watched = watching(world)
    stops: list[repair_watch.Stop] = []

    def pause(seconds: float) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        stops[0].pause(seconds)

    monkeypatch.setattr(world, "pause", pause)
    plan: Any = None

    def load(stop: repair_watch.Stop) -> Any:
        stops.append(stop)
        return plan, request()

    before = signal.getsignal(signal.SIGTERM)
    watch(load, interval_minutes=0, opened=watched.opened, repair=watched.repair)
    assert signal.getsignal(signal.SIGTERM) == before
    assert world.done == ["cordon n1", "terminate i-1"]
    assert world.steps[-1] == "RepairTerminated n1"
    assert "the next `repair` continues what has begun" in capsys.readouterr().err
    assert Journal(tmp_path / "repair.jsonl").last_step() == "RepairTerminated"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["p5-cb", "--watch"], "add --yes to allow it, or --dry-run"),
        (["p5-cb", "--watch", "--yes", "--node", "n1"], "omit --node, or --watch"),
        (["p5-cb", "--interval-minutes", "1"], "--interval-minutes requires --watch"),
        (["batch-p5", "--watch", "--yes", "--sandbox"], "--watch is for EKS"),
    ],
)
def test_what_a_watch_cannot_do_is_refused(trainyard, arguments: list[str], says: str) -> None:
    result = trainyard("repair", *arguments)
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr


def test_the_unit_of_systemd_starts_a_command_that_exists() -> None:
    text = (ROOT / "docs" / "repair.md").read_text(encoding="utf-8")
    (line,) = (each for each in text.splitlines() if each.startswith("ExecStart="))
    _, *arguments = line.split()
    assert problem_of([each.replace("%i", "p5-cb") for each in arguments]) == ""
