"""The start of a multi-node job: the nodes connect, and handle failures.

The nodes are processes of this machine that run the command of the job definition; SSH is replaced
by programs with the same arguments.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.processes import PATIENCE, free_port
from trainyard.components.batch.nccl_command import on_all_nodes
from trainyard.components.batch.node_start import MEETING_PORT, SSH_PORT

JOB = "6c1f0d0e-nccl"
TELL = 'echo "NODES=$NODES HOSTS=$HOSTS"'
# A server that runs until it is terminated, and records its arguments.
SSHD = '#!/bin/sh\necho "$@" > "$HOME/sshd-arguments"\nexec sleep 60\n'
BROKEN_SSHD = "#!/bin/sh\nexit 255\n"
KEYGEN = (
    '#!/bin/sh\nwhile [ "$1" != -f ]; do shift; done\n'
    'echo PRIVATE > "$2"; echo "ssh-ed25519 KEY-$(basename "$HOME")-$(basename "$2") comment" '
    '> "$2.pub"\n'
)

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start(tmp_path: Path, port: int) -> Iterator[Start]:
    """Start a node; its home is a directory with its number."""
    started: list[subprocess.Popen[str]] = []

    def run(
        index: int, nodes: int, text: str = TELL, first: str = "", sshd: str = SSHD, **more: str
    ) -> subprocess.Popen[str]:
        home, programs = tmp_path / f"node{index}", tmp_path / f"bin{index}"
        programs.mkdir()
        home.mkdir()
        for name, content in {"sshd": sshd, "ssh-keygen": KEYGEN}.items():
            (programs / name).write_text(content)
            (programs / name).chmod(0o755)
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(home),
            "NCCL_DEBUG": "INFO",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/of-this-node",
            "AWS_BATCH_JOB_ID": f"{JOB}#{index}" if nodes > 1 else JOB,
            **(multinode(index, nodes) if nodes > 1 else {}),
            **more,
        }
        _, flag, script, *rest = on_all_nodes(text, first)
        # Another port than that of a job, because other tests may run at the same time.
        script = script.replace(str(MEETING_PORT), str(port)).replace("/run/sshd", f"{home}/run")
        process = subprocess.Popen(
            [sys.executable, flag, script, *rest],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield run
    for process in started:
        # Processes that a node has started keep its output open.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def multinode(index: int, nodes: int) -> dict[str, str]:
    """Return the variables that Batch sets; the main node gets no address."""
    address = {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "127.0.0.1"} if index else {}
    return {
        "AWS_BATCH_JOB_NUM_NODES": str(nodes),
        "AWS_BATCH_JOB_NODE_INDEX": str(index),
        "AWS_BATCH_JOB_MAIN_NODE_INDEX": "0",
        **address,
    }


def test_one_command_runs_on_the_main_node_over_all_nodes(start: Start, tmp_path: Path) -> None:
    """BAT5-10: separate tests on each node would prove nothing about the network."""
    nodes = [start(index, 3) for index in range(3)]
    said = [node.communicate(timeout=PATIENCE) for node in nodes]
    assert [node.returncode for node in nodes] == [0, 0, 0], said
    assert "NODES=3 HOSTS=127.0.0.1 127.0.0.1 127.0.0.1" in said[0][0]
    assert all("NODES=3" not in out for out, _ in said[1:])
    assert "the main node is done" in said[1][0]


def test_the_main_node_alone_may_log_in_and_knows_every_server(
    start: Start, tmp_path: Path
) -> None:
    nodes = [start(index, 2) for index in range(2)]
    said = [node.communicate(timeout=PATIENCE) for node in nodes]
    assert nodes[0].returncode == 0, said
    for home in (tmp_path / "node0", tmp_path / "node1"):
        assert (home / ".ssh/authorized_keys").read_text() == "ssh-ed25519 KEY-node0-client\n"
    known = (tmp_path / "node0/.ssh/known").read_text().splitlines()
    assert known == [
        f"[127.0.0.1]:{SSH_PORT} ssh-ed25519 KEY-node0-host",
        f"[127.0.0.1]:{SSH_PORT} ssh-ed25519 KEY-node1-host",
    ]
    config = (tmp_path / "node0/.ssh/config").read_text()
    assert "StrictHostKeyChecking yes" in config
    assert f"Port {SSH_PORT}\n" in config
    assert not any("PRIVATE" in text for pair in said for text in pair)


def test_sessions_get_the_environment_but_not_what_is_a_nodes_own(
    start: Start, tmp_path: Path
) -> None:
    written = tmp_path / "node1/sshd-arguments"
    # The end of the job ends the server, which may not yet have written its arguments.
    text = f"until [ -s '{written}' ]; do sleep 0.05; done"
    nodes = [start(index, 2, text=text) for index in range(2)]
    assert [node.wait(PATIENCE) for node in nodes] == [0, 0]
    lines = (tmp_path / "node1/.ssh/environment").read_text().splitlines()
    names = {line.partition("=")[0] for line in lines}
    assert "NCCL_DEBUG=INFO" in lines
    assert {"INTERFACE", "NCCL_SOCKET_IFNAME", "CCOM_SOCKET_IFNAME", "PATH"} <= names
    assert not {name for name in names if name.startswith(("AWS_", "HOME"))}
    arguments = written.read_text()
    assert f"-p {SSH_PORT} " in arguments
    assert "PasswordAuthentication=no" in arguments


def test_the_job_ends_as_its_command_does(start: Start) -> None:
    nodes = [start(index, 2, text="exit 7") for index in range(2)]
    assert [node.wait(PATIENCE) for node in nodes] == [7, 0]


def test_a_job_on_one_node_needs_no_meeting(start: Start, tmp_path: Path) -> None:
    node = start(0, 1, first="echo prepared")
    out, err = node.communicate(timeout=PATIENCE)
    assert node.returncode == 0, err
    assert "prepared\n" in out
    assert "NODES=1 HOSTS=localhost" in out
    assert not (tmp_path / "node0/.ssh").exists()


def test_nodes_that_do_not_come_are_named(start: Start) -> None:
    main, _ = start(0, 3, MEETING_SECONDS="3"), start(1, 3, MEETING_SECONDS="3")
    _, err = main.communicate(timeout=PATIENCE)
    assert main.returncode == 1
    assert f"not there within 3 s, see their logs: {JOB}#2" in err


def test_a_worker_without_a_main_node_gives_up(start: Start, port: int) -> None:
    worker = start(1, 2, MEETING_SECONDS="1")
    _, err = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 1
    assert f"no answer from the main node at 127.0.0.1:{port} within 1 s" in err


def test_what_every_node_runs_first_fails_the_job_where_it_fails(start: Start) -> None:
    main = start(0, 2, first="true")
    worker = start(1, 2, first="echo no compiler >&2; exit 3")
    _, err = main.communicate(timeout=PATIENCE)
    assert main.returncode == 1
    assert "the node at 127.0.0.1 came and did not get ready" in err
    assert worker.wait(PATIENCE) == 3


def test_a_worker_whose_server_ends_says_so(start: Start) -> None:
    start(0, 2, text="sleep 20")
    worker = start(1, 2, sshd=BROKEN_SSHD)
    _, err = worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 1
    assert "the SSH server ended" in err


def meet(port: int, hello: object) -> bytes:
    """Send a greeting to the main node, and return its answer."""
    end = time.monotonic() + 20
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                connection.sendall(json.dumps(hello).encode() + b"\n")
                return connection.recv(4096)
        except ConnectionRefusedError:
            assert time.monotonic() < end


@pytest.mark.parametrize(
    "hello",
    [
        pytest.param({"job": "another", "node": 1, "key": "k"}, id="another-job"),
        pytest.param({"job": JOB, "node": 0, "key": "k"}, id="main-node"),
        pytest.param({"job": JOB, "node": 2, "key": "k"}, id="beyond-the-job"),
        pytest.param({"job": JOB, "node": 1}, id="no-key"),
        pytest.param({"job": JOB, "node": [1], "key": 5}, id="other-types"),
        pytest.param(["node"], id="other-form"),
    ],
)
def test_who_is_no_node_of_the_job_gets_no_key_and_stops_nothing(
    start: Start, port: int, hello: object
) -> None:
    main = start(0, 2)
    assert meet(port, hello) == b""
    worker = start(1, 2)
    out, err = main.communicate(timeout=PATIENCE)
    assert main.returncode == 0, err
    assert "turned 127.0.0.1 away" in out
    assert worker.wait(PATIENCE) == 0


def test_a_job_that_is_terminated_ends_at_once(start: Start) -> None:
    """A process with PID 1 would not end, and Batch would wait for it."""
    main = start(0, 1, text="echo begun; exec sleep 60")
    assert main.stdout is not None
    while "begun" not in main.stdout.readline():
        assert main.poll() is None
    main.terminate()
    assert main.wait(PATIENCE) == 143
