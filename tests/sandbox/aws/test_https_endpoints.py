"""The proxy that replaces HTTPS hosts of AWS."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainyard.sandbox.aws.server import HttpsEndpoints, issuer_hosts

HOST, _ = issuer_hosts("us-west-2")


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpsEndpoints]:
    with HttpsEndpoints([HOST], tmp_path_factory.mktemp("https")).serving() as serving:
        yield serving


def connected(endpoints: HttpsEndpoints, target: str) -> tuple[socket.socket, str]:
    """Return a connection through the proxy, and the proxy's response."""
    connection = socket.create_connection(("127.0.0.1", endpoints.server_address[1]), 10)
    connection.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    said = b""
    while not said.endswith(b"\r\n\r\n"):
        said += connection.recv(1)
    return connection, said.decode().strip()


@pytest.mark.parametrize("host", [HOST, HOST.upper()])
def test_a_host_of_aws_has_a_certificate_that_the_authority_vouches_for(
    endpoints: HttpsEndpoints, host: str
) -> None:
    connection, said = connected(endpoints, f"{host}:443")
    assert said == "HTTP/1.1 200 Connection established"
    context = ssl.create_default_context(cafile=str(endpoints.authority))
    with connection, context.wrap_socket(connection, server_hostname=HOST) as secure:
        secure.sendall(f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert secure.recv(100).startswith(b"HTTP/1.1 200 OK")


def test_another_host_is_refused(endpoints: HttpsEndpoints) -> None:
    connection, said = connected(endpoints, "example.com:443")
    connection.close()
    assert said == "HTTP/1.1 403 The sandbox has no such host"


def test_this_machine_is_reached_through_it(endpoints: HttpsEndpoints) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def echo() -> None:
            accepted, _ = server.accept()
            with accepted:
                accepted.sendall(accepted.recv(100).upper())

        thread = threading.Thread(target=echo)
        thread.start()
        connection, said = connected(endpoints, f"127.0.0.1:{server.getsockname()[1]}")
        with connection:
            connection.sendall(b"hello")
            assert (said.split()[1], connection.recv(100)) == ("200", b"HELLO")
        thread.join()


def test_a_server_of_this_machine_that_is_gone_is_said_to_be(endpoints: HttpsEndpoints) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    connection, said = connected(endpoints, f"127.0.0.1:{port}")
    connection.close()
    assert said == "HTTP/1.1 502 Bad Gateway"


def test_a_plugin_finds_it_by_its_environment(endpoints: HttpsEndpoints) -> None:
    environment = endpoints.environment()
    assert environment["HTTPS_PROXY"] == f"http://127.0.0.1:{endpoints.server_address[1]}"
    assert Path(environment["NODE_EXTRA_CA_CERTS"]).read_text().startswith("-----BEGIN CERT")
