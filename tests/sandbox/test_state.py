"""The daemon of a sandbox directory: start, stop, and everything in between."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, processes_below, until
from trainyard.sandbox.process_identity import start_time
from trainyard.sandbox.state import SandboxDirectory, SandboxError, SandboxStatus

NO_PROGRAMS: dict[str, list[str]] = {}


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[SandboxDirectory]:
    made = SandboxDirectory(tmp_path / "sandbox")
    yield made
    made.stop()
    assert processes_below(made.path) == []


def test_a_directory_that_nobody_made_has_no_daemon(tmp_path: Path) -> None:
    directory = SandboxDirectory(tmp_path / "none")
    assert directory.read_status() is None
    assert directory.stop() is False
    assert directory.reset() is False
    assert not directory.path.exists()


def test_the_daemon_answers_when_start_returns_and_is_gone_when_stop_does(
    directory: SandboxDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "a-profile-of-the-user")
    status = directory.start(NO_PROGRAMS)
    assert status.aws_endpoint.startswith("http://127.0.0.1:")
    assert (status.account_id, status.region) == ("123456789012", "us-west-2")
    assert directory.read_status() == status
    assert directory.start(NO_PROGRAMS) == status
    environment = Path(f"/proc/{status.pid}/environ")
    if environment.exists():
        assert b"a-profile-of-the-user" not in environment.read_bytes()
    state = directory.pulumi_state / "stack.json"
    state.parent.mkdir(parents=True)
    state.write_text("{}")
    assert directory.stop() is True
    assert start_time(status.pid) is None
    assert directory.read_status() is None
    assert not directory.pulumi_state.exists()
    (aside,) = (directory.path / "pulumi" / "ended").iterdir()
    assert (aside / "stack.json").exists()
    assert directory.stop() is False


def test_a_killed_daemon_is_no_daemon_and_the_next_one_starts(directory: SandboxDirectory) -> None:
    first = directory.start(NO_PROGRAMS)
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: directory.read_status() is None, "the daemon to be gone")
    assert processes_below(directory.path) == []
    directory.pulumi_state.mkdir(parents=True)  # it describes an account that no longer exists
    second = directory.start(NO_PROGRAMS)
    assert second.pid != first.pid
    assert not directory.pulumi_state.exists()


def test_a_daemon_whose_directory_is_removed_ends_itself(directory: SandboxDirectory) -> None:
    """`rm -rf` of a checkout must not leave a process that cannot be found."""
    status = directory.start(NO_PROGRAMS)
    shutil.rmtree(directory.path)
    until(lambda: not status.process.is_alive, "the daemon to end")


def test_two_who_start_at_once_get_one_daemon(directory: SandboxDirectory) -> None:
    found: list[SandboxStatus] = []
    threads = [
        threading.Thread(target=lambda: found.append(directory.start(NO_PROGRAMS)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2
    assert found[0] == found[1]


def test_a_daemon_that_somebody_did_not_wait_for_is_found(directory: SandboxDirectory) -> None:
    # Ctrl-C while it starts
    directory.path.mkdir()
    directory.logs.mkdir()
    directory.programs_file.write_text("{}")
    daemon = directory._launch("us-west-2", 0)
    try:
        until(lambda: directory._process() is not None, "the daemon to hold its lock")
        status = directory.start(NO_PROGRAMS)
        assert status.pid == daemon.pid
        assert directory.stop() is True
    finally:
        daemon.wait(PATIENCE)


def test_a_port_that_is_taken_is_told_and_nothing_is_left(directory: SandboxDirectory) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SandboxError, match=f"Port {port} on 127.0.0.1 is in use") as caught:
            directory.start(NO_PROGRAMS, port=port)
    assert str(directory.logs / "output.log") in str(caught.value)
    assert directory.read_status() is None
    assert directory.start(NO_PROGRAMS).pid


def test_a_reset_leaves_nothing(directory: SandboxDirectory) -> None:
    directory.start(NO_PROGRAMS)
    assert directory.reset() is True
    assert list(directory.path.iterdir()) == []


def test_a_status_that_cannot_be_read_is_no_status(directory: SandboxDirectory) -> None:
    directory.path.mkdir()
    for text in ("", "{", '{"pid": 1}', '{"unknown": true}'):
        directory.daemon_file.write_text(text)
        assert directory.read_status() is None


def test_a_status_of_another_process_with_the_same_id_is_no_status(
    directory: SandboxDirectory,
) -> None:
    directory.path.mkdir()
    directory.write_status(
        SandboxStatus(
            pid=os.getpid(),
            process_start_time="another time",
            aws_endpoint="http://127.0.0.1:1",
            access_key="none",
            account_id="123456789012",
            region="us-west-2",
        )
    )
    assert directory.read_status() is None


def test_a_sandbox_is_given_a_program_while_it_runs(directory: SandboxDirectory) -> None:
    """A ParallelCluster stack uses a sandbox that an EKS stack has started."""
    status = directory.start(NO_PROGRAMS)
    assert directory.program("parallelcluster-python") is None
    directory.give("parallelcluster-python", ["/bin/python"])
    directory.give("other", ["/bin/other"])
    assert directory.program("parallelcluster-python") == ["/bin/python"]
    assert directory.read_status() == status


def test_a_directory_that_nobody_made_has_no_program(tmp_path: Path) -> None:
    assert SandboxDirectory(tmp_path / "none").program("other") is None
