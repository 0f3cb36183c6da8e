"""Children of the daemon end with it; remaining ones are found by their pid file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, until
from trainyard.sandbox.process_identity import (
    ProcessIdentity,
    identity_of,
    own_identity,
    read_identity,
    start_time,
)
from trainyard.sandbox.processes import Spawner, sweep

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]
DEAF_PROGRAM = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True:
    signal.pause()
"""
DEAF = [sys.executable, "-c", DEAF_PROGRAM]

PARENT = """
import sys
from pathlib import Path
from trainyard.sandbox.processes import Spawner
directory = Path(sys.argv[1])
child = Spawner(directory / "processes").spawn(
    [sys.executable, "-c", "import signal; signal.pause()"],
    name="child", log_path=directory / "child.log",
)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def spawner(tmp_path: Path) -> Iterator[Spawner]:
    made = Spawner(tmp_path / "processes")
    yield made
    made.stop_all()


def test_a_child_writes_to_its_log_and_has_its_variables(spawner: Spawner, tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    program = "import os; print(os.environ['SAID'])"
    child = spawner.spawn(
        [sys.executable, "-c", program], name="child", log_path=log, env={"SAID": "hello"}
    )
    assert child.wait(PATIENCE) == 0
    assert log.read_text() == "hello\n"


def test_a_program_that_does_not_exist_ends_and_says_so(spawner: Spawner, tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    child = spawner.spawn(["/nowhere/at/all"], name="child", log_path=log)
    assert child.wait(PATIENCE) != 0
    assert "No such file" in log.read_text()


def test_a_log_that_cannot_be_opened_is_an_error_of_the_caller(
    spawner: Spawner, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        spawner.spawn(FOREVER, name="child", log_path=tmp_path / "missing" / "child.log")


def test_stopping_ends_children_that_listen_and_children_that_do_not(tmp_path: Path) -> None:
    spawner = Spawner(tmp_path / "processes", grace_seconds=0.2)
    children = [
        spawner.spawn(argv, name=name, log_path=tmp_path / f"{name}.log")
        for name, argv in (("forever", FOREVER), ("deaf", DEAF))
    ]
    until(lambda: (tmp_path / "deaf.log").read_text() == "deaf\n", "the child to be deaf")
    spawner.stop_all()
    assert [child.returncode for child in children] == [-signal.SIGTERM, -signal.SIGKILL]
    assert list((tmp_path / "processes").iterdir()) == []


def test_a_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert parent.stdout is not None
        child = identity_of(int(parent.stdout.readline()))
        parent.kill()
    if sys.platform != "linux":  # only Linux ties a child to its parent; the next start sweeps
        sweep(tmp_path / "processes")
    until(lambda: not child.is_alive, "the child to end with its parent")


def test_sweeping_ends_what_was_left(tmp_path: Path) -> None:
    left = subprocess.Popen(FOREVER)
    try:
        identity = identity_of(left.pid)
        record = {"pid": identity.pid, "start_time": identity.start_time}
        (tmp_path / "etcd.json").write_text(json.dumps(record))
        (tmp_path / "torn.json").write_text('{"pid":')
        assert sweep(tmp_path) == ["etcd"]
        assert left.wait(PATIENCE) == -signal.SIGKILL
        assert list(tmp_path.iterdir()) == []
    finally:
        left.kill()
        left.wait()


def test_sweeping_leaves_a_process_that_only_has_the_same_id(tmp_path: Path) -> None:
    mine = own_identity()
    record = {"pid": mine.pid, "start_time": "another boot, another time"}
    (tmp_path / "etcd.json").write_text(json.dumps(record))
    assert sweep(tmp_path) == []
    assert mine.is_alive


def test_a_process_that_ended_is_not_alive_though_its_parent_has_not_looked() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = identity_of(child.pid)
    assert identity.is_alive
    child.kill()
    until(lambda: not identity.is_alive, "the zombie to count as ended")
    assert not identity.send(signal.SIGTERM)
    child.communicate()
    with pytest.raises(ProcessLookupError):
        identity_of(child.pid)


def test_an_identity_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    assert read_identity(tmp_path / "none") is None
    (tmp_path / "torn").write_text("{")
    assert read_identity(tmp_path / "torn") is None
    assert start_time(os.getpid()) == own_identity().start_time
    assert not ProcessIdentity(os.getpid(), "never").is_alive
