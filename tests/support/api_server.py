"""A Kubernetes API server with answers that a test sets, and the answers of a healthy cluster."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from trainyard.diagnosis.rollout import GroupExpectation

PLUGIN = "nvidia-device-plugin-daemonset"
GPU = "nvidia.com/gpu"
ROLE = "arn:aws:iam::123456789012:role/p5-node"
EXPECTED = (GroupExpectation("p5", "p5.48xlarge", None, 1, {GPU: 8}, (PLUGIN,)),)
"""Expected nodes of the cluster of `ANSWERS`."""


def _node(name: str, *, ready: bool, message: str) -> dict[str, Any]:
    state = {"type": "Ready", "status": str(ready), "reason": "Kubelet", "message": message}
    return {
        "metadata": {
            "name": name,
            "labels": {"node.kubernetes.io/instance-type": "p5.48xlarge"},
        },
        "spec": {"providerID": f"aws:///us-west-2b/i-{name}"},
        "status": {"conditions": [state], "allocatable": {GPU: "8", "cpu": "192"}},
    }


def _pod(node: str, status: Mapping[str, Any]) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": PLUGIN, "uid": "x"}
    match = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [match]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {
        "metadata": {
            "name": f"plugin-{node}",
            "namespace": "kube-system",
            "ownerReferences": [owner],
        },
        "spec": {"affinity": affinity, "containers": [{"name": "plugin"}]},
        "status": dict(status),
    }


def answers(message: str = "words") -> dict[str, Any]:
    """Return the answers of a cluster with a healthy and a broken node, by the end of the path.

    `message` is the report of the kubelet and the device plugin about the broken node.
    """
    waiting = {"reason": "CrashLoopBackOff", "message": message}
    ended = {"exitCode": 1, "reason": "Error", "message": message}
    broken = {
        "name": "plugin",
        "ready": False,
        "restartCount": 3,
        "image": "x",
        "imageID": "x",
        "state": {"waiting": waiting},
        "lastState": {"terminated": ended},
    }
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "nodes": {
            "items": [
                _node("good", ready=True, message="kubelet is posting ready status"),
                _node("broken", ready=False, message=message),
            ]
        },
        "daemonsets": {
            "items": [
                {
                    "metadata": {"name": PLUGIN},
                    "status": {"desiredNumberScheduled": 2, "numberReady": 1},
                }
            ]
        },
        "pods": {
            "items": [
                _pod("good", running),
                _pod("broken", {"phase": "Pending", "containerStatuses": [broken]}),
            ]
        },
        "configmaps": {
            "items": [
                {
                    "metadata": {"name": "aws-auth", "resourceVersion": "1"},
                    "data": {"mapRoles": f"- rolearn: {ROLE}\n  username: node\n  groups: []\n"},
                }
            ]
        },
    }


@dataclass(slots=True)
class ApiServer:
    """A server on the loopback address."""

    port: int
    said: dict[str, Any] = field(default_factory=dict[str, Any])
    """Answer by the last part of the path; the ConfigMap by its name is the first of the list."""

    @property
    def kubeconfig(self) -> str:
        """The kubeconfig for the server."""
        cluster = {"server": f"http://127.0.0.1:{self.port}"}
        return json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "x",
                "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
                "clusters": [{"name": "x", "cluster": cluster}],
                "users": [{"name": "x", "user": {}}],
            }
        )


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """Run a server until the end of the block."""
    state = ApiServer(port=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            # The answers are objects of kube-system.
            is_elsewhere = "/namespaces/" in path and "/namespaces/kube-system/" not in path
            said = {"items": []} if is_elsewhere else state.said.get(path.rpartition("/")[2])
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
            """Write nothing for each request."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_port
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
