"""A dead engine's lock is cleared; a living engine's lock is respected."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tools.workspace.locks import StackLockedError, clear_dead_locks


def write_lock(directory: Path, pid: int, *, hostname: str | None = None) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / f"{pid}.json"
    content = {
        "pid": pid,
        "username": "someone",
        "hostname": hostname or socket.gethostname(),
        "timestamp": "2026-11-21T10:00:00Z",
    }
    path.write_text(json.dumps(content))
    path.with_name(path.name + ".attrs").write_text("{}")
    return path


def pid_of_ended_process() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


@pytest.fixture
def engine(tmp_path: Path):
    """A process that looks like an engine at work."""
    program = tmp_path / "pulumi"
    program.symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"ready\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"ready\n"  # only now it is surely that program
        yield child


def test_the_lock_of_an_ended_process_is_cleared(tmp_path: Path) -> None:
    write_lock(tmp_path / "locks", pid_of_ended_process())
    assert len(clear_dead_locks(tmp_path / "locks", stack="p5-cb")) == 1
    assert list((tmp_path / "locks").iterdir()) == []


def test_fails_on_the_lock_of_a_living_engine_and_names_its_process(tmp_path: Path, engine) -> None:
    path = write_lock(tmp_path / "locks", engine.pid)
    with pytest.raises(StackLockedError, match=rf"process {engine.pid} .*kill -INT {engine.pid}"):
        clear_dead_locks(tmp_path / "locks", stack="p5-cb")
    assert path.exists()


def test_a_process_id_that_another_program_got_since_does_not_hold_the_lock(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as child:
        write_lock(tmp_path / "locks", child.pid)
        assert len(clear_dead_locks(tmp_path / "locks", stack="p5-cb")) == 1


def test_fails_on_the_lock_of_another_machine(tmp_path: Path) -> None:
    write_lock(tmp_path / "locks", 1, hostname="elsewhere")
    with pytest.raises(StackLockedError, match="on elsewhere since 2026-11-21T10:00:00Z"):
        clear_dead_locks(tmp_path / "locks", stack="p5-cb")


def test_a_lock_file_that_was_cut_off_is_cleared(tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_text('{"pid": 1')
    assert len(clear_dead_locks(tmp_path, stack="p5-cb")) == 1


def test_a_stack_that_was_never_locked_needs_nothing(tmp_path: Path) -> None:
    assert clear_dead_locks(tmp_path / "missing", stack="p5-cb") == []
