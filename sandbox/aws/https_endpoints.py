"""HTTPS hosts of AWS that programs connect to by name, served through a proxy.

pulumi-eks opens a TLS connection to `oidc.eks.<region>.amazonaws.com` for the thumbprint of its
certificate, also in previews, and waits for `/healthz` of a public API server
(`nodejs/eks/cluster/cluster.ts` and `cert-thumprint.ts` of https://github.com/pulumi/pulumi-eks).
No variable changes these addresses, but the plugin uses the proxy in `HTTPS_PROXY`. This proxy
terminates TLS for the configured hosts, with a certificate of an authority that Node.js trusts
through `NODE_EXTRA_CA_CERTS`. It forwards connections to this machine, and rejects all other hosts.
"""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from cryptography import x509

from sandbox.kubernetes.credentials import make_server_certificate

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SECONDS = 30.0
"""Timeout for idle connections."""
BUFFER_BYTES = 65536


def issuer_hosts(region: str) -> list[str]:
    """Return the hosts of the OIDC issuers of a region's clusters, in each partition.

    Source: `eksOidcProviderUrl` in `nodejs/eks/cluster/cluster.ts`.
    """
    return [f"oidc.eks.{region}.{suffix}" for suffix in ("amazonaws.com", "amazonaws.com.cn")]


class HttpsEndpoints(socketserver.ThreadingTCPServer):
    """A proxy on the loopback interface that serves the given AWS hosts."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, hosts: Sequence[str], directory: Path) -> None:
        """Serve `hosts`; the certificates are written to `directory`."""
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        files = make_server_certificate(directory, "aws", [x509.DNSName(host) for host in hosts])
        self.hosts = frozenset(map(str.lower, hosts))
        self.authority = files.authority
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(files.certificate, files.key)
        super().__init__(("127.0.0.1", 0), _Connection)

    def environment(self) -> dict[str, str]:
        """Return the variables that direct a Node.js plugin to the proxy."""
        address = f"http://127.0.0.1:{self.server_address[1]}"
        return {"HTTPS_PROXY": address, "NODE_EXTRA_CA_CERTS": str(self.authority)}

    @contextlib.contextmanager
    def serving(self) -> Iterator[HttpsEndpoints]:
        """Serve until the end of the block."""
        thread = threading.Thread(target=self.serve_forever, name="https-endpoints", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class _Connection(socketserver.StreamRequestHandler):
    """A client connection; the first line is `CONNECT host:port HTTP/1.1`."""

    timeout = SECONDS

    @property
    def endpoints(self) -> HttpsEndpoints:
        assert isinstance(self.server, HttpsEndpoints)  # noqa: S101 - for the type checker
        return self.server

    def handle(self) -> None:
        """Handle one CONNECT."""
        with contextlib.suppress(OSError):
            method, target, *_ = [*self.rfile.readline().decode("latin-1").split(), "", ""]
            while self.rfile.readline().strip():
                pass
            host, _, port = target.rpartition(":")
            if method != "CONNECT" or not port.isdecimal():
                self._answer("405 Method Not Allowed")
            elif host.lower() in self.endpoints.hosts:
                self._answer("200 Connection established")
                self._answer_as_host()
            elif host.strip("[]") in LOOPBACK:
                self._pass_on(host.strip("[]"), int(port))
            else:
                self._answer("403 The sandbox has no such host")

    def _answer(self, status: str) -> None:
        self.wfile.write(f"HTTP/1.1 {status}\r\n\r\n".encode())

    def _answer_as_host(self) -> None:
        with self.endpoints.context.wrap_socket(self.connection, server_side=True) as secure:
            if secure.recv(BUFFER_BYTES):
                length = "Content-Length: 2\r\nConnection: close\r\n\r\nok"
                secure.sendall(f"HTTP/1.1 200 OK\r\n{length}".encode())

    def _pass_on(self, host: str, port: int) -> None:
        try:
            there = socket.create_connection((host, port), SECONDS)
        except OSError:
            self._answer("502 Bad Gateway")
            return
        with there:
            self._answer("200 Connection established")
            ends = {self.connection: there, there: self.connection}
            while ready := select.select(list(ends), [], [], SECONDS)[0]:
                for end in ready:
                    sent = end.recv(BUFFER_BYTES)
                    if not sent:
                        return
                    ends[end].sendall(sent)
