"""A sandbox account that a test fills: instances, and answers for the authenticator."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from sandbox.kubernetes.instances import Instance

ACCOUNT_ID = "123456789012"


class SandboxAccountDouble:
    """Answers the node simulator directly and the authenticator over HTTP."""

    def __init__(self) -> None:
        self.authentication_mode = "API_AND_CONFIG_MAP"
        self.access_entries: dict[str, dict[str, Any]] = {}
        """By role ARN: `username` and `kubernetes_groups`."""
        self.running: dict[str, Instance] = {}
        self.roles: dict[str, str] = {}
        """Role ARN by instance profile."""
        self.node_groups: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    @property
    def endpoint(self) -> str:
        """URL of the account."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def running_instance_ids(self) -> set[str]:
        """As `SandboxAccount`."""
        return set(self.running)

    def instances(self, instance_ids: Iterable[str]) -> list[Instance]:
        """As `SandboxAccount`."""
        return [self.running[instance_id] for instance_id in instance_ids]

    def terminate(self, instance_id: str) -> None:
        """As `SandboxAccount`."""
        self.running.pop(instance_id, None)

    def role_arn(self, instance_profile: str) -> str | None:
        """As `SandboxAccount`."""
        return self.roles.get(instance_profile)

    def node_group(self, cluster: str, name: str) -> dict[str, Any]:
        """As `SandboxAccount`."""
        return self.node_groups[f"{cluster}/{name}"]

    def cluster(self, name: str) -> dict[str, Any]:
        """As `SandboxAccount`: every cluster is reached from anywhere."""
        return {
            "name": name,
            "accessConfig": {"authenticationMode": self.authentication_mode},
            "resourcesVpcConfig": {"endpointPrivateAccess": False},
        }

    def ingress_rules(self, security_group_id: str) -> list[dict[str, Any]]:
        """As `SandboxAccount`; must not be called."""
        raise AssertionError(f"nobody should ask for {security_group_id}")

    def identity(self, arn: str, session: str) -> dict[str, Any]:
        """The authenticator's information about a caller."""
        instance = self.running.get(session)
        return {
            "authentication_mode": self.authentication_mode,
            "access_entry": self.access_entries.get(arn),
            "private_dns_name": instance.private_dns_name if instance else None,
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        account = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                content = json.dumps(account.identity(query["arn"], query.get("session", "")))
                self.send_response(200 if parts.path == "/_trainyard/identity" else 404)
                self.end_headers()
                self.wfile.write(content.encode())

            def log_message(self, *_arguments: object) -> None:
                """Write nothing for each request."""

        return Handler
