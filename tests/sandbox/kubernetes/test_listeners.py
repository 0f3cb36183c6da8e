"""What a sandbox with a cluster listens on, and what a stranger on this machine gets there.

The table in docs/security.md, "Who may use a sandbox", names each of them.
"""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sandbox.aws.identity import ACCOUNT_ID
from sandbox.state import SandboxDirectory, SandboxStatus
from tests.sandbox.kubernetes.test_daemon import make_cluster
from tests.support.listeners import Listener, listeners

pytestmark = pytest.mark.kubernetes

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview"}
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
def running(
    tmp_path_factory: pytest.TempPathFactory, kubernetes_programs: dict[str, list[str]]
) -> Iterator[Running]:
    directory = SandboxDirectory(tmp_path_factory.mktemp("listeners") / "sandbox")
    status = directory.start(kubernetes_programs)
    make_cluster(status.endpoint)
    yield Running(directory, status)
    directory.stop()


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
    programs = ("etcd", "kube-apiserver", "authenticator", "sandbox.daemon")
    others = [
        each.command for each in found if not [name for name in programs if name in each.command]
    ]
    assert others == []
    assert [len(running.of(name)) for name in programs[:3]] == [2, 1, 1]
    assert len([each for each in found if "sandbox.daemon" in each.command]) == 2


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
