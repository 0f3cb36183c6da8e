"""Inputs of the guard other than the steps: the last update, the reservations, the time left."""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.stacks import account_facts
from tests.support.steps import PLUGIN, created, step, steps
from tests.trainyard.cli.conftest import COMPLETE
from tests.trainyard.cli.test_existing_objects import HAS_CLUSTER, ApiServer, objects
from trainyard.cli import failures
from trainyard.deployment.guarded_update import (
    Guard,
    deployed_cluster,
    is_idle,
    run_guarded,
    time_left,
)
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def update(kind="update", result="succeeded", **cluster):
    config = {"trainyard:cluster": {"value": json.dumps(cluster), "secret": False}}
    return {"kind": kind, "result": result, "config": config}


def test_the_last_update_that_succeeded_is_what_is_deployed():
    history = [
        update(result="failed", name="broken"),
        update(kind="refresh", name="refreshed"),
        update(name="newest"),
        update(name="older"),
    ]
    assert deployed_cluster(history) == {"name": "newest"}


@pytest.mark.parametrize("history", [[], [update(result="failed")], [{"kind": "update"}]])
def test_without_one_nothing_is_known(history):
    assert deployed_cluster(history) is None


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (datetime(2026, 12, 7, 13, tzinfo=UTC), "2026-12-07 13:00 UTC, 6 d 1 h from now"),
        (datetime(2026, 12, 1, 13, 5, tzinfo=UTC), "2026-12-01 13:05 UTC, 1 h 5 min from"),
        (datetime(2026, 11, 30, tzinfo=UTC), "2026-11-30 00:00 UTC, 0 s from now"),
    ],
)
def test_the_time_left_of_a_block_is_said_in_words(end, words):
    assert time_left(end, NOW).startswith(words)


@pytest.mark.parametrize(
    ("since_start", "before_end", "idle"),
    [
        (timedelta(hours=-1), timedelta(days=7), True),
        (timedelta(hours=1), timedelta(days=6), False),
        (timedelta(days=6), timedelta(minutes=31), False),
        (timedelta(days=6), timedelta(minutes=30), True),
        (timedelta(days=8), timedelta(days=-1), True),
    ],
)
def test_a_block_is_idle_before_its_start_and_when_ec2_terminates_its_instances(
    since_start, before_end, idle
):
    some = account_facts().reservations["cr-0123456789abcdef0"]
    block = replace(some, starts_at=NOW - since_start, ends_at=NOW + before_end)
    assert is_idle(block, NOW) is idle


def test_an_ultraserver_is_idle_an_hour_before_its_end():
    some = account_facts().reservations["cr-0123456789abcdef0"]
    block = replace(some, instance_type="trn2u.48xlarge", ends_at=NOW + timedelta(hours=1))
    assert is_idle(block, NOW)
    assert not is_idle(block, NOW - timedelta(seconds=1))


@dataclass
class Run:
    """A run of the engine with some steps, whose update begins if they are accepted."""

    steps: tuple[Any, ...]
    begins: bool = False

    def judged(self, _command: object, _arguments: object, judge: Any, **_: object) -> None:
        self.begins = judge(self.steps)


@pytest.fixture
def guarded(stack_file, tmp_path):
    """Run the guard of an update of p5-cb."""

    def run(made: Any, *allowed: str, warns: bool = False, existing: Any = None) -> None:
        file = find_stack_file("p5-cb", path=stack_file(COMPLETE))
        workspace: Any = SimpleNamespace(
            target=target_of(file, sandbox=False),
            stack_file=file,
            scratch=tmp_path,
            command=SimpleNamespace(output=lambda _: "[]"),
            arguments=list,
        )
        run_guarded(workspace, "up", made, Guard(allowed, warns=warns), existing)

    return run


NEW = step("create", "aws:s3/bucket:Bucket", "p5-cb-bucket")
LOST = step("delete", "aws:fsx/lustreFileSystem:LustreFileSystem", "p5-cb-lustre")


def test_an_update_that_loses_nothing_begins(guarded):
    guarded(run := Run((NEW,)))
    assert run.begins


def test_an_update_that_loses_a_file_system_does_not_begin(guarded):
    run = Run((NEW, LOST))
    with pytest.raises(failures.WrongUseError, match="--replace p5-cb-lustre"):
        guarded(run)
    assert not run.begins


def test_a_loss_that_is_allowed_by_name_does_not_keep_the_update(guarded, capsys):
    guarded(run := Run((NEW, LOST)), "p5-cb-lustre", "p5-cb-other")
    assert run.begins
    assert "--replace p5-cb-other: the update would delete no object" in capsys.readouterr().err


def test_an_update_over_an_object_of_the_cluster_does_not_begin(guarded):
    run = Run(tuple(steps(HAS_CLUSTER, created(PLUGIN))))
    with pytest.raises(failures.WrongUseError, match="already has objects"):
        guarded(run, existing=objects(ApiServer()))
    assert not run.begins


def test_a_preview_warns_of_what_up_would_refuse(guarded, capsys):
    guarded(run := Run((LOST,)), warns=True)
    assert not run.begins
    assert "warning: `up` would be refused" in capsys.readouterr().err
