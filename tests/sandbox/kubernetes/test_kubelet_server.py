"""The log endpoint of kubelets, as an API server calls it: through a proxy, over TLS."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.processes import PATIENCE
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.kubernetes.container_logs import ContainerLogs, KubeletServer
from trainyard.sandbox.kubernetes.credentials import make_credentials

NODE = "ip-10-0-1-2.us-west-2.compute.internal"
LOG = "/containerLogs/default/train-0/program"
SERVICE_PORTS: dict[tuple[str, int], int] = {}


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[ContainerLogs]:
    """The logs of a running server."""
    logs = ContainerLogs()
    credentials, _ = make_credentials(tmp_path / "pki")
    server = KubeletServer(logs, credentials, SERVICE_PORTS)
    logs.start("default", "train-0")
    logs.write("default", "train-0", ["one", "two", "three"])
    (selection,) = yaml.safe_load(server.egress_selection())["egressSelections"]
    path = Path(selection["connection"]["transport"]["uds"]["udsName"])
    assert selection["name"] == "cluster"
    _Node.socket_path = str(path)
    yield logs
    server.close()
    CLOCK.reset()
    assert not path.parent.exists()


class _Node(http.client.HTTPConnection):
    """A connection to a node."""

    socket_path = ""

    def connect(self) -> None:
        plain = socket.socket(socket.AF_UNIX)
        plain.settimeout(10)
        plain.connect(self.socket_path)
        plain.sendall(f"CONNECT {self.host}:{self.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answer = plain.recv(1000).decode()
        if " 200 " not in answer:
            plain.close()
            raise ConnectionRefusedError(answer)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.sock: Any = context.wrap_socket(plain)


def asked(path: str, method: str = "GET") -> tuple[int, str]:
    node = _Node(NODE, 10250)
    node.request(method, path)
    answer = node.getresponse()
    found = answer.status, answer.read().decode()
    node.close()
    return found


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("", ["one", "two", "three"]),
        ("tailLines=2", ["two", "three"]),
        ("tailLines=0", []),
        ("tailLines=9&sinceSeconds=60", ["one", "two", "three"]),
        ("sinceTime=2026-01-01T00:00:00Z&stream=All", ["one", "two", "three"]),
        ("sinceTime=2999-01-01T00:00:00Z", []),
    ],
)
def test_a_log_is_read_from_its_end_or_since_a_time(
    logs: ContainerLogs, query: str, lines: list[str]
) -> None:
    assert logs.read("default", "train-0")
    assert asked(f"{LOG}?{query}") == (200, "".join(f"{line}\n" for line in lines))


def test_old_lines_are_left_out_by_the_clock_of_the_sandbox(logs: ContainerLogs) -> None:
    CLOCK.advance(timedelta(hours=1))
    logs.write("default", "train-0", ["four"])
    assert asked(f"{LOG}?sinceSeconds=60") == (200, "four\n")


def test_timestamps_have_a_fixed_width_and_grow(logs: ContainerLogs) -> None:
    assert logs.read("default", "train-0")
    _, text = asked(f"{LOG}?timestamps=true")
    times = [line.partition(" ")[0] for line in text.splitlines()]
    assert {len(time) for time in times} == {len("2026-11-25T14:30:07.857149001Z")}
    assert sorted(set(times)) == times


def test_a_limit_counts_bytes(logs: ContainerLogs) -> None:
    assert logs.read("default", "train-0")
    assert asked(f"{LOG}?limitBytes=6") == (200, "one\ntw")


def test_a_log_is_followed_until_its_container_ends(logs: ContainerLogs) -> None:
    found: list[tuple[int, str]] = []
    reader = threading.Thread(
        target=lambda: found.append(asked(f"{LOG}?follow=true&tailLines=1")), daemon=True
    )
    reader.start()
    logs.write("default", "train-0", ["four"])
    logs.end("default", "train-0")
    reader.join(PATIENCE)
    assert found in ([(200, "three\nfour\n")], [(200, "four\n")])


def test_a_pod_that_has_printed_nothing_has_an_empty_log(logs: ContainerLogs) -> None:
    assert logs.read("default", "other") == []
    assert asked("/containerLogs/kube-system/other/agent?follow=true") == (200, "")


def test_what_needs_a_program_is_refused(logs: ContainerLogs) -> None:
    assert logs.read("default", "train-0")
    status, said = asked(f"{LOG}?previous=true")
    assert (status, said) == (
        400,
        'previous terminated container "program" in pod "train-0" not found\n',
    )
    for method, path in (("POST", "/exec/default/train-0/program"), ("GET", "/metrics")):
        status, said = asked(path, method)
        assert status == 404
        assert "execute nothing" in said


def test_only_kubelets_are_reached(logs: ContainerLogs) -> None:
    assert logs.read("default", "train-0")
    with pytest.raises(ConnectionRefusedError, match="502"):
        _Node("10.100.0.7", 443).request("GET", "/validate")


def test_a_service_leads_to_the_process_that_is_its_pod(
    logs: ContainerLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert logs.read("default", "train-0")
    with socket.create_server(("127.0.0.1", 0)) as pod:
        monkeypatch.setitem(SERVICE_PORTS, ("10.100.0.9", 443), pod.getsockname()[1])
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(_Node.socket_path)
            client.sendall(b"CONNECT 10.100.0.9:443 HTTP/1.1\r\nHost: x\r\n\r\n")
            at_the_pod, _ = pod.accept()
            with at_the_pod:
                assert b" 200 " in client.recv(1000)
                client.sendall(b"review")
                assert at_the_pod.recv(1000) == b"review"
