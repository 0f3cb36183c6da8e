"""What a sandbox with a cluster listens on, and what a stranger on this machine gets there.

The table in docs/security.md, "Who may use a sandbox", names each of them.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.sandbox.kubernetes.test_daemon import make_cluster
from tests.support.listeners import Listener, listeners, unix_listeners
from tests.support.processes import descendants
from tests.support.stranger import (
    Request,
    Stranger,
    directory_between_users,
    everything_below,
    sockets_below,
)
from trainyard.sandbox.aws.application import ACCOUNT_ID
from trainyard.sandbox.state import SandboxDirectory, SandboxStatus

pytestmark = pytest.mark.kubernetes

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
SIGNED = {
    "Authorization": "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=00, "
    "Credential=AKIAIOSFODNN7EXAMPLE/20261129/us-west-2/ssm/aws4_request",
    "X-Amz-Target": "AmazonSSM.SendCommand",
}
EVERY_KEY = '{"key": "AA==", "range_end": "AA=="}'
"""https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/"""
NO_HANDSHAKE: set[int | str] = {"TLS alert", "closed"}
ADMINISTRATOR = f"arn:aws:sts::{ACCOUNT_ID}:assumed-role/cluster/stranger"


@dataclass(frozen=True, slots=True)
class Running:
    """A sandbox with one cluster."""

    directory: SandboxDirectory
    status: SandboxStatus

    def of(self, program: str) -> list[Listener]:
        """Return what a program of the control plane listens on."""
        every = listeners(self.status.pid)
        return [each for each in every if f" {program} " in each.command]


@pytest.fixture(scope="module")
def running(kubernetes_programs: dict[str, list[str]]) -> Iterator[Running]:
    with directory_between_users() as outside:
        directory = SandboxDirectory(outside / "sandbox")
        status = directory.start(kubernetes_programs)
        make_cluster(status.endpoint)
        yield Running(directory, status)
        directory.stop()


@pytest.fixture
def stranger() -> Stranger:
    return Stranger()


def answer(
    address: str,
    method: str = "GET",
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    body: str = "",
) -> int:
    """Return the status that a stranger gets, who does not care who signed a certificate."""
    parts = urlsplit(address)
    if parts.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(str(parts.hostname), parts.port, context=context)
    else:
        connection = http.client.HTTPConnection(str(parts.hostname), parts.port)
    with closing(connection):
        connection.request(method, path, body or None, dict(headers or {}))
        return connection.getresponse().status


def test_everything_listens_on_the_loopback_interface(running: Running) -> None:
    found = listeners(running.status.pid)
    assert [each for each in found if not each.is_on_loopback] == []
    programs = ("etcd", "kube-apiserver", "authenticator", "trainyard.sandbox.daemon")
    others = [
        each.command for each in found if not [name for name in programs if name in each.command]
    ]
    assert others == []
    assert [len(running.of(name)) for name in programs[:3]] == [2, 1, 1]
    assert len([each for each in found if "trainyard.sandbox.daemon" in each.command]) == 2


def test_etcd_tells_nothing_to_a_client_without_its_certificate(running: Running) -> None:
    for each in running.of("etcd"):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            answer(f"https://127.0.0.1:{each.port}", "POST", "/v3/kv/range", body='{"key":"AA=="}')
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            answer(f"http://127.0.0.1:{each.port}", path="/version")


def test_the_name_of_a_role_is_no_token_of_the_cluster(running: Running) -> None:
    (server,) = running.of("kube-apiserver")
    path = "/api/v1/secrets"
    for token in (ADMINISTRATOR, f"@{ADMINISTRATOR}", f"sandbox@{ADMINISTRATOR}", "x"):
        headers = {"Authorization": f"Bearer {token}"}
        assert answer(f"https://127.0.0.1:{server.port}", path=path, headers=headers) == 401
    assert answer(f"https://127.0.0.1:{server.port}", path=path) == 403


def test_the_authenticator_tells_only_the_api_server_whose_a_token_is(running: Running) -> None:
    (webhook,) = running.of("authenticator")
    body = json.dumps({**REVIEW, "spec": {"token": ADMINISTRATOR}})
    for headers in ({}, {"Authorization": "Bearer x"}):
        address = f"https://127.0.0.1:{webhook.port}"
        assert answer(address, "POST", "/authenticate", headers, body) == 401


def test_the_proxy_leads_nowhere_but_to_this_machine(running: Running) -> None:
    proxy = running.status.https_environment["HTTPS_PROXY"]
    for host in ("example.com:443", "169.254.169.254:80", "[fd00:ec2::254]:80"):
        assert answer(proxy, "CONNECT", host) == 403
    assert answer(proxy, "GET", "/") == 405


def test_only_its_user_can_enter_the_directory_and_read_its_files(running: Running) -> None:
    def open_to_others(path: Path) -> bool:
        return not path.is_symlink() and bool(path.stat().st_mode & 0o077)

    every = [running.directory.path, *running.directory.path.rglob("*")]
    assert [str(path) for path in every if open_to_others(path)] == []


def test_another_user_reads_and_writes_nothing_of_the_sandbox(
    running: Running, stranger: Stranger
) -> None:
    open_to_all = running.directory.path.with_name("open to all")
    open_to_all.write_text("It is the modes of the sandbox that refuse the others.", "utf-8")
    open_to_all.chmod(0o644)
    every = everything_below(running.directory.path)
    assert running.directory.daemon_file in every
    assert {"kubeconfig", "etcd.key", "tokens.csv"} <= {path.name for path in every}
    processes = (running.status.pid, *descendants(running.status.pid))
    environments = [Path(f"/proc/{pid}/environ") for pid in processes]
    assert stranger.opens([open_to_all, *every, *environments]) == [open_to_all]


def test_another_user_connects_to_no_unix_socket(running: Running, stranger: Stranger) -> None:
    sockets = unix_listeners(running.status.pid)
    assert [Path(path).name for path in sockets] == ["kubelets"]
    path = running.directory.path.with_name("socket")
    with closing(socket.socket(socket.AF_UNIX)) as open_to_all:
        open_to_all.bind(str(path))
        open_to_all.listen()
        path.chmod(0o777)
        every = [str(path), *sockets, *sockets_below(running.directory.path)]
        assert stranger.connects(every) == [str(path)]


def test_another_user_is_refused_by_every_listener(running: Running, stranger: Stranger) -> None:
    aws, proxy = running.status.aws_endpoint, running.status.https_environment["HTTPS_PROXY"]
    (api_server,) = (f"https://127.0.0.1:{each.port}" for each in running.of("kube-apiserver"))
    (authenticator,) = (f"https://127.0.0.1:{each.port}" for each in running.of("authenticator"))
    etcd = [f"https://127.0.0.1:{each.port}" for each in running.of("etcd")]
    token = {"Authorization": f"Bearer {ADMINISTRATOR}"}
    review = json.dumps({**REVIEW, "spec": {"token": ADMINISTRATOR}})
    asked: list[tuple[Request, set[int | str]]] = [
        ((aws, "POST", "/", {}, ""), {403}),
        ((aws, "POST", "/", SIGNED, "{}"), {403}),
        ((aws, "GET", "/_trainyard/identity?cluster=c&arn=a&session=s", {}, ""), {403}),
        # Everybody may use the proxy, which leads to listeners of this machine only.
        ((proxy, "CONNECT", "example.com:443", {}, ""), {403}),
        ((api_server, "GET", "/api/v1/secrets", {}, ""), {403}),
        ((api_server, "GET", "/api/v1/secrets", token, ""), {401}),
        ((authenticator, "POST", "/authenticate", {}, review), {401}),
        *(((each, "POST", "/v3/kv/range", {}, EVERY_KEY), NO_HANDSHAKE) for each in etcd),
    ]
    ports = {urlsplit(request[0]).port for request, _ in asked}
    assert ports == {each.port for each in listeners(running.status.pid)}
    answers = stranger.answers([request for request, _ in asked])
    admitted = [
        (request[:3], answer)
        for (request, refusals), answer in zip(asked, answers, strict=True)
        if answer not in refusals
    ]
    assert admitted == []
