"""A released controller is ready when its webhooks answer under their certificate."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509

from tests.support.processes import free_port
from trainyard.sandbox.kubernetes.controllers import answers, is_ready
from trainyard.sandbox.kubernetes.credentials import make_server_certificate

HOST = "jobset-webhook-service.jobset-system.svc"


class Webhooks(BaseHTTPRequestHandler):
    """Answers as controller-runtime: 404 for a path that is not registered."""

    registered = "/validate"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (body["kind"], self.headers["Content-Type"]) == (
            "AdmissionReview",
            "application/json",
        )
        self.send_response(200 if self.path == self.registered else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Nobody reads it."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The port of webhooks, and the bundle that an API server trusts."""
    made = make_server_certificate(tmp_path, "tls", [x509.DNSName(HOST)])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    with ThreadingHTTPServer(("127.0.0.1", 0), Webhooks) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port, base64.b64encode(made.authority.read_bytes()).decode()
        server.shutdown()


def test_a_webhook_answers_when_its_path_is_registered(served: tuple[int, str]) -> None:
    port, bundle = served
    client = {"caBundle": bundle, "service": {"path": "/validate"}}
    assert answers(port, HOST, client)
    assert not answers(port, HOST, {**client, "service": {"path": "/mutate"}})


def test_a_webhook_answers_only_under_its_certificate(served: tuple[int, str]) -> None:
    port, bundle = served
    client = {"caBundle": bundle, "service": {"path": "/validate"}}
    assert not answers(port, "another.svc", client)
    assert not answers(port, HOST, {"service": {"path": "/validate"}})


def test_a_controller_that_does_not_listen_is_not_ready() -> None:
    assert not is_ready(free_port())
