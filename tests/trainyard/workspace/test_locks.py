"""The lock of a dead engine is removed; the lock of a running engine is respected."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from trainyard.workspace.backend import backend_directory, lock_directory
from trainyard.workspace.locks import StackLockedError, clear_dead_locks, locked_out


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
    """A process that looks like a running engine."""
    program = tmp_path / "pulumi"
    program.symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(b"ready\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"ready\n"  # from here on, it is certainly that program
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


def engine_words(*holders: tuple[str, int]) -> str:
    """Return the engine's message about locks, by machine and process."""
    lines = [
        f"\n  s3://state/.pulumi/locks/x.json: created by me@{host} (pid {pid}) at "
        "2026-11-21T10:00:00Z"
        for host, pid in holders
    ]
    return (
        f"error: the stack is currently locked by {len(holders)} lock(s). Either wait for the "
        "other process(es) to end or delete the lock file with `pulumi cancel`." + "".join(lines)
    )


def test_the_lock_of_another_machine_comes_out_in_our_words() -> None:
    """A backend in S3: this machine cannot determine whether that process runs."""
    said = locked_out(engine_words(("elsewhere", 7)), stack="p5-cb")
    assert said == (
        "another command uses stack p5-cb: process 7 on elsewhere since 2026-11-21T10:00:00Z; "
        "wait until it ends, or stop it with `kill -INT 7` on elsewhere, and run this again; "
        "nothing was changed"
    )


def test_an_engine_that_lives_here_is_named_before_one_that_is_gone(engine) -> None:
    here = socket.gethostname()
    found = engine_words((here, pid_of_ended_process()), (here, engine.pid))
    said = locked_out(found, stack="p5-cb")
    assert said is not None
    assert f"process {engine.pid} on {here} since" in said
    assert said.count("process") == 1


def test_a_lock_that_a_dead_engine_left_elsewhere_is_cleared_by_a_command() -> None:
    pid = pid_of_ended_process()
    said = locked_out(engine_words((socket.gethostname(), pid)), stack="p5-cb")
    assert said is not None
    assert f"left a lock on stack p5-cb: process {pid}; nothing was changed" in said
    assert said.endswith("  pulumi cancel --stack p5-cb --yes")


def test_a_conflict_in_a_service_comes_out_in_our_words() -> None:
    """https://www.pulumi.com/docs/support/troubleshooting/common-issues/update-conflicts/."""
    said = locked_out(
        "error: [409] Conflict: Another update is currently in progress.\nTo learn more about "
        "possible reasons and resolution, visit https://www.pulumi.com/docs/support/"
        "troubleshooting/common-issues/update-conflicts/",
        stack="p5-cb",
    )
    assert said is not None
    assert said.startswith("your Pulumi backend reports another update of stack p5-cb")


def test_other_errors_are_no_locks() -> None:
    assert locked_out("error: no Pulumi.yaml project file found", stack="p5-cb") is None


@pytest.mark.parametrize(
    ("backend", "directory"),
    [
        ("file:///srv/state", "/srv/state/.pulumi/locks/organization/trainyard/p5-cb"),
        ("file:///srv/my%20state", "/srv/my state/.pulumi/locks/organization/trainyard/p5-cb"),
        ("s3://state", None),
        ("https://app.pulumi.com/me", None),
    ],
)
def test_only_a_backend_in_a_directory_has_locks_to_look_at(backend, directory) -> None:
    found = backend_directory(backend)
    assert (found and lock_directory(found, "p5-cb")) == (Path(directory) if directory else None)
