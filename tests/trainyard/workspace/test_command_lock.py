"""Of two commands on one stack, the second names the lock's holder, and no lock is left over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.modules import PYTHONPATH
from trainyard.workspace.locks import (
    StackLockedError,
    every_lock,
    hold_lock,
    refuse_taken,
    release_lock,
    short_lock,
)

HOLDER = """
import sys
from pathlib import Path
from trainyard.workspace.locks import hold_lock
hold_lock(Path(sys.argv[1]), stack="p5-cb", command="up")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "p5-cb.lock"


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that uses the stack."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def take(path: Path, command: str = "destroy") -> None:
    with short_lock(path, stack="p5-cb", command=command, timeout_seconds=0):
        pass


def test_the_second_is_told_what_holds_the_stack_since_when_and_what_to_do(path, other) -> None:
    with pytest.raises(StackLockedError) as raised:
        take(path)
    said = str(raised.value)
    assert f"`up`, process {other.pid} on " in said
    assert " since 20" in said
    assert f"wait until it ends, or stop it with `kill -INT {other.pid}`, and run this" in said
    assert said.endswith("nothing was changed")


def test_a_killed_process_leaves_nothing_to_clear(path, other) -> None:
    other.kill()
    other.wait()
    refuse_taken(path, stack="p5-cb")
    take(path)


def test_a_look_takes_no_turn(path, other) -> None:
    with pytest.raises(StackLockedError, match="process"):
        refuse_taken(path, stack="p5-cb")
    other.kill()
    other.wait()
    refuse_taken(path, stack="p5-cb")
    take(path)


def test_nobody_works_where_nobody_ever_did(path) -> None:
    refuse_taken(path, stack="p5-cb")
    assert not path.exists()


def test_a_process_has_its_own_turn_already(path) -> None:
    """The commands of a suite run in one process."""
    hold_lock(path, stack="p5-cb", command="up")
    hold_lock(path, stack="p5-cb", command="destroy")
    refuse_taken(path, stack="p5-cb")
    with pytest.raises(StackLockedError, match=f"process {os.getpid()} "):
        take(path)
    release_lock(path)
    take(path)


def test_a_holder_that_has_not_signed_yet_holds_all_the_same(path, other) -> None:
    os.truncate(path, 0)
    with pytest.raises(StackLockedError, match="since a moment ago; wait until it ends and run"):
        take(path)


def test_one_who_has_patience_waits_for_the_end(path, other) -> None:
    assert other.stdin is not None
    other.stdin.close()
    with short_lock(path, stack="p5-cb", command="preview", timeout_seconds=30):
        assert '"command": "preview"' in path.read_text()


def test_of_many_that_begin_in_the_same_moment_one_goes_on(path) -> None:
    """All start before the first is read; one holds the lock, and the others are refused."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDER, path],
            env={**os.environ, "PYTHONPATH": PYTHONPATH},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    refused = 0
    holding = []
    for process in processes:
        assert process.stdout is not None
        if process.stdout.readline() == "held\n":
            holding.append(process)
    for process in processes:
        _, said = process.communicate()
        refused += "another command uses stack p5-cb" in said
    assert (len(holding), refused) == (1, 3)


def test_all_turns_are_had_only_where_nobody_works(path, other) -> None:
    path.with_name("dev.lock").touch()
    with (
        pytest.raises(StackLockedError, match=f"stack p5-cb: `up`, process {other.pid} on "),
        every_lock(path.parent, command="sandbox stop"),
    ):
        pytest.fail("somebody works on p5-cb")
    # No records of free locks remain.
    take(path.with_name("dev.lock"))


def test_who_has_all_turns_lets_nobody_begin(path) -> None:
    take(path)
    with every_lock(path.parent, command="sandbox stop"), pytest.raises(StackLockedError) as raised:
        take(path)
    assert "stack p5-cb: `sandbox stop`, process" in str(raised.value)
    take(path)
