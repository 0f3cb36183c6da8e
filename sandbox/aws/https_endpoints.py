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
import socketserver
import ssl
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from cryptography import x509
from typing_extensions import override

from trainyard.sandbox.connect_proxy import BUFFER_BYTES, Connection
from trainyard.sandbox.kubernetes.credentials import make_server_certificate

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


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


class _Connection(Connection):
    @property
    def endpoints(self) -> HttpsEndpoints:
        assert isinstance(self.server, HttpsEndpoints)  # noqa: S101 - for the type checker
        return self.server

    @override
    def connect(self, host: str, port: int) -> None:
        if host.lower() in self.endpoints.hosts:
            self.accept()
            self._answer_as_host()
        elif host in LOOPBACK:
            self.pass_on(host, port)
        else:
            self.answer("403 The sandbox has no such host")

    def _answer_as_host(self) -> None:
        with self.endpoints.context.wrap_socket(self.connection, server_side=True) as secure:
            if secure.recv(BUFFER_BYTES):
                length = "Content-Length: 2\r\nConnection: close\r\n\r\nok"
                secure.sendall(f"HTTP/1.1 200 OK\r\n{length}".encode())
