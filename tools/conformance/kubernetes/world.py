"""The environment of a case: the provider under test and a real cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from tools.conformance.kubernetes.plugin import Journal, Plugin, RefusedError, Values
from tools.conformance.kubernetes.stack import Stack
from trainyard.sandbox.kubernetes.api import ApiError, KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import MANAGED_LABEL, MANAGED_VALUE, ControlPlane

NOWHERE = "https://127.0.0.1:9"
"""The discard port, on which no process listens."""
GONE_SECONDS = 30
Start = Callable[[Mapping[str, str]], Any]
"""Starts the plugin with environment variables; returns a context manager of a `Plugin`."""


@dataclass(slots=True)
class World:
    """The environment of a case; removes the objects that it creates in the cluster."""

    control_plane: ControlPlane
    start: Start
    api: KubernetesApi
    """Administrator access, independent of Pulumi."""
    journal: Journal = field(default_factory=Journal)
    _ended: ExitStack = field(default_factory=ExitStack)

    def stack(
        self,
        *,
        kubeconfig: str | None = None,
        environment: Mapping[str, str] | None = None,
        **settings: str,
    ) -> Stack:
        """Return an empty stack whose provider is configured for the cluster.

        Args:
            kubeconfig: Kubeconfig to use instead of the administrator's.
            environment: Environment variables of the plugin.
            settings: Provider configuration in addition to `kubeconfig`.
        """
        plugin: Plugin = self._ended.enter_context(self.start(environment or {}))
        plugin.write_to(self.journal)
        configuration: Values = {"kubeconfig": kubeconfig or self.kubeconfig, **settings}
        request: Values = {
            "args": configuration,
            "variables": {f"kubernetes:config:{k}": v for k, v in configuration.items()},
            "acceptSecrets": True,
            "acceptResources": True,
            "sends_old_inputs": True,
            "sends_old_inputs_to_delete": True,
        }
        shown = {"args": "<kubeconfig>", "variables": "<kubeconfig>"}
        if settings:
            shown["args"] = shown["variables"] = f"<kubeconfig> {json.dumps(settings)}"
        with suppress(RefusedError):
            plugin.call("Configure", request, shown)
        return Stack(plugin)

    @property
    def kubeconfig(self) -> str:
        """Kubeconfig of the administrator."""
        return self.control_plane.kubeconfig.read_text(encoding="utf-8")

    @property
    def kubeconfig_to_nowhere(self) -> str:
        """Kubeconfig of a deleted cluster."""
        return self.kubeconfig.replace(self.control_plane.endpoint, NOWHERE)

    def apply(self, path: str, body: Values, manager: str) -> None:
        """Apply fields as another field manager."""
        query = urlencode({"fieldManager": manager, "force": "true"})
        self.api.patch(f"{path}?{query}", body, "application/apply-patch+yaml")

    def exists(self, path: str) -> None:
        """Record whether an object exists, without its generated fields."""
        try:
            found = self.api.get(path)
        except ApiError as error:
            self.journal.exchanges.append({"cluster": path, "answer": error.status})
        else:
            kept = {key: found[key] for key in ("data", "metadata") if key in found}
            self.journal.exchanges.append({"cluster": path, "answer": kept})

    def node(self, name: str, *, runs: bool) -> None:
        """Create a node that is Ready.

        Args:
            name: Its name.
            runs: Whether its pods run; otherwise they stay pending.
        """
        labels = {MANAGED_LABEL: MANAGED_VALUE} if runs else {}
        self.api.post("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
        self._ended.callback(self.remove, f"/api/v1/nodes/{name}")
        status = {
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "10"},
            "capacity": {"cpu": "8", "memory": "16Gi", "pods": "10"},
        }
        self.api.patch(f"/api/v1/nodes/{name}/status", {"status": status})
        self.api.patch(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})

    def end_pods(self, path: str) -> None:
        """End the pods in `kube-system` as a node would, and wait until their owner is deleted.

        Raises:
            TimeoutError: the owner still exists.
        """
        deadline = time.monotonic() + GONE_SECONDS
        pods = "/api/v1/namespaces/kube-system/pods"
        while self._there(path):
            for pod in self.api.get(pods)["items"]:
                self.remove(f"{pods}/{pod['metadata']['name']}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} is still there after {GONE_SECONDS} s")
            time.sleep(0.05)

    def _there(self, path: str) -> bool:
        try:
            self.api.get(path)
        except ApiError:
            return False
        return True

    def make(self, path: str, body: Values) -> None:
        """Create an object outside Pulumi; it is removed with the case."""
        self.api.post(path, body)
        self._ended.callback(self.remove, f"{path}/{body['metadata']['name']}")

    def remove(self, path: str) -> None:
        """Delete an object if it exists."""
        with suppress(ApiError):
            self.api.delete(path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})

    def end(self) -> None:
        """Remove the objects that the case created outside Pulumi."""
        self._ended.close()


@contextmanager
def world(control_plane: ControlPlane, start: Start) -> Iterator[World]:
    """Yield the environment of a case, and clean up afterwards."""
    api = control_plane.administrator()
    found = World(control_plane, start, api)
    try:
        yield found
    finally:
        found.end()
        api.close()
