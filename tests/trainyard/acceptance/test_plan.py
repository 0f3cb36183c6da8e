"""The steps of an acceptance: what they run, by kind of the stack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trainyard.acceptance.plan import Accepted, steps_of
from trainyard.acceptance.steps import NODE, judged
from trainyard.acceptance.training import training_of
from trainyard.schedulers.registry import SCHEDULERS

D = Path("/d")
OF_ALL = ("check", "up", "up again", "refresh")
LAST = ("change", "diagnose", "destroy")


def accepted(kind: str, **values: Any) -> Accepted:
    given: dict[str, Any] = {
        "stack": "dev",
        "scheduler": SCHEDULERS.get(kind),
        "file": D / "stack.yaml",
        "changed": D / "changed.yaml",
        "changes": "tags",
        "directory": D,
        "test": ("verify",),
    }
    return Accepted(**{**given, **values})


def training(kind: str) -> Any:
    return training_of(SCHEDULERS[kind], nvidia=True, storage="/mnt/a", directory=D / "training")


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("eks", ("test", "repair", "run", "resume", "status")),
        ("parallelcluster", ("test", "repair", "install", "run", "resume", "status")),
        ("batch", ("test", "run", "resume", "status")),
    ],
)
def test_the_steps_of_a_cluster(kind: str, names: tuple[str, ...]) -> None:
    steps = steps_of(accepted(kind, training=training(kind)))
    assert [each.name for each in steps] == [*OF_ALL, *names, *LAST]
    assert [each.name for each in steps if each.cleans] == ["diagnose", "destroy"]
    assert all(each.arguments[1:3] == ("dev", "--stack-file") for each in steps)


def test_a_network_comes_up_is_changed_and_goes() -> None:
    steps = steps_of(accepted("network", test=()))
    assert [each.name for each in steps] == [*OF_ALL, *LAST]


def test_the_stack_file_with_a_change_is_only_that_of_the_change() -> None:
    steps = steps_of(accepted("eks"))
    files = {each.name: each.arguments[3] for each in steps}
    assert files.pop("change") == "/d/changed.yaml"
    assert set(files.values()) == {"/d/stack.yaml"}


def test_the_training_is_cancelled_once_it_trains_and_must_continue_from_its_checkpoint() -> None:
    steps = {each.name: each for each in steps_of(accepted("eks", training=training("eks")))}
    assert steps["run"].arguments == steps["resume"].arguments
    assert steps["run"].interruption is not None
    assert steps["run"].interruption.arguments[:2] == ("cancel", "dev")
    assert steps["resume"].interruption is None
    assert steps["resume"].says.startswith("continues from ")
    assert NODE in steps["repair"].arguments


@pytest.mark.parametrize(
    ("figure", "line", "passes"),
    [
        ("GPU utilization", "│ GPU utilization      average 41.5, busiest 97 %    │", True),
        ("GPU utilization", "│ GPU utilization      average none, busiest none %  │", False),
        ("Memory of nodes", "│ Memory of nodes      fullest node 12 %             │", True),
        ("GPU utilization", "│ GPU memory           average 41 %                  │", False),
        ("", "│ GPU utilization      average none, busiest none %  │", True),
    ],
)
def test_metrics_must_be_read_back_where_they_are_sent(
    figure: str, line: str, passes: bool
) -> None:
    steps = steps_of(accepted("eks", training=training("eks"), figure=figure))
    (status,) = [each for each in steps if each.name == "status"]
    assert (judged(status, 0, line, 1).result == "pass") == passes


def test_a_capacity_block_must_be_active() -> None:
    (block,) = [e for e in steps_of(accepted("eks", has_block=True)) if e.name == "block"]
    assert block.arguments[0] == "timeline"


def test_the_deletion_of_a_file_system_takes_ten_minutes_more() -> None:
    times = [steps_of(accepted("eks", creates_lustre=each))[-1].minutes for each in (True, False)]
    assert times[0] - times[1] == 10
