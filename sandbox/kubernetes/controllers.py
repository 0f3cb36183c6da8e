"""The controllers of Kueue and JobSet, the only pods of the sandbox that run programs."""

from __future__ import annotations

import base64
import logging
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any

import urllib3
import yaml
from cryptography import x509

from trainyard.sandbox.kubernetes.api import STRATEGIC_MERGE_PATCH, Pace, unless_gone
from trainyard.sandbox.kubernetes.control_planes import (
    CONTROLLERS,
    LOGS,
    ControlPlane,
    ControlPlanes,
)
from trainyard.sandbox.kubernetes.credentials import kubeconfig, make_server_certificate
from trainyard.sandbox.kubernetes.pods import running_status
from trainyard.sandbox.private_files import write_private
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree

# When a released controller is ready: its probe succeeds, and it answers for its webhooks.
#
# The probe alone is not enough for JobSet: it succeeds when the server of the webhooks listens, and
# `setupControllers` may register them later. In a cluster, `initialDelaySeconds` of the probe hides
# this. https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/main.go


_SECONDS = 1.0
_REVIEW = {
    "apiVersion": "admission.k8s.io/v1",
    "kind": "AdmissionReview",
    "request": {"uid": "ready", "operation": "DELETE"},
}
"""A request without an object, which no webhook acts on."""


def is_ready(port: int) -> bool:
    """Return whether the readiness probe of a controller succeeds."""
    try:
        answer = urllib3.request(
            "GET", f"http://127.0.0.1:{port}/readyz", retries=False, timeout=_SECONDS
        )
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200


def answers(port: int, host: str, client: Mapping[str, Any]) -> bool:
    """Return whether a webhook answers as the API server asks it.

    Args:
        port: Port of the controller's webhooks.
        host: Name in their certificate.
        client: The `clientConfig` of the webhook. It has no `caBundle` until the certificate is
            made; and a path that the controller has not registered is not found.
    """
    bundle = client.get("caBundle")
    if not bundle:
        return False
    with urllib3.HTTPSConnectionPool(
        "127.0.0.1",
        port,
        ssl_context=ssl.create_default_context(cadata=base64.b64decode(bundle).decode()),
        server_hostname=host,
        retries=False,
        timeout=_SECONDS,
    ) as pool:
        try:
            answer = pool.request("POST", client["service"]["path"], json=_REVIEW)
        except urllib3.exceptions.HTTPError:
            return False
        return answer.status == 200


# The controllers of Kueue and JobSet, the only pods of the sandbox that run programs.
#
# A pod of such a Deployment that is bound to a node becomes a process of this machine: the released
# controller, with the arguments, the configuration and the permissions of the pod. This module does
# what the kubelet would: it mounts the certificate, probes, and reports the status. What it needs,
# it reads from the manifest of the pod and from the webhooks that lead to its namespace. Addresses
# differ, because all clusters share this machine.


_LOG = logging.getLogger(__name__)

_TOKEN_SECONDS = 30 * 24 * 3600
"""A sandbox lives for days; the token of a pod would be renewed by the kubelet."""
_NUMBER = 0
"""Number of the pod, from which its address is derived; those of Jobs begin with 1."""
CERTIFICATES = "certificates"
"""Directory of a pod with the certificate of its webhooks."""
_FIXED_DIRECTORY = ("jobset",)
"""Controllers that look for the certificate that they make in a fixed directory of their pod
(https://github.com/kubernetes-sigs/jobset/blob/v0.12.0/pkg/util/cert/cert.go, `certDir`). Here, the
pods of all clusters share the directories of this machine, so the sandbox makes the certificate, as
cert-manager can in a cluster (`internalCertManagement`)."""
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
_CONFIG = "--config="
"""Argument with the path of the configuration:
https://github.com/kubernetes-sigs/kueue/blob/v0.19.2/cmd/kueue/main.go, and JobSet's `main.go`"""


class NoControllerError(Exception):
    """A cluster has a pod of the controller, but the sandbox has no program for it."""


@dataclass(frozen=True, slots=True)
class _Manifest:
    """What a pod says of its controller."""

    namespace: str
    service_account: str
    config_map: str
    config_file: str
    """Key of the configuration in the ConfigMap."""
    certificate: str
    """The Secret with the certificate of the webhooks."""
    arguments: tuple[str, ...]
    """Arguments besides the path of the configuration."""

    @classmethod
    def of(cls, pod: Mapping[str, Any]) -> _Manifest:
        """Read the manifest of a pod."""
        spec = pod["spec"]
        (container,) = spec["containers"]
        path = next(e for e in container["args"] if e.startswith(_CONFIG)).removeprefix(_CONFIG)
        mounts = {each["mountPath"]: each for each in container["volumeMounts"]}
        volumes = {each["name"]: each for each in spec["volumes"]}
        return cls(
            namespace=pod["metadata"]["namespace"],
            service_account=spec["serviceAccountName"],
            config_map=volumes[mounts[path]["name"]]["configMap"]["name"],
            config_file=mounts[path]["subPath"],
            certificate=next(
                each["secret"]["secretName"] for each in volumes.values() if "secret" in each
            ),
            arguments=tuple(e for e in container["args"] if not e.startswith(_CONFIG)),
        )

    @property
    def space(self) -> str:
        """Path of its namespace in the API."""
        return f"/api/v1/namespaces/{self.namespace}"


@dataclass(slots=True)
class _Process:
    """The process of a pod."""

    process: Popen[Any]
    manifest: _Manifest
    directory: Path
    webhook_port: int
    probe_port: int
    ready: bool = False


class Controller:
    """One controller in one cluster, by pod."""

    def __init__(
        self,
        program_name: str,
        control_plane: ControlPlane,
        program: Callable[[str], Sequence[str] | None],
        spawn: Spawn,
    ) -> None:
        """Start without processes.

        Args:
            program_name: The controller, as in `CONTROLLERS`.
            control_plane: The cluster.
            program: Returns the command of a controller; None if the sandbox has none.
            spawn: Starts a process.
        """
        self._program_name = program_name
        self._control_plane = control_plane
        self._administrator = control_plane.administrator()
        self._program = program
        self._spawn = spawn
        self._running: dict[str, _Process] = {}

    @property
    def name(self) -> str:
        """The controller and its cluster, for messages."""
        return f"{self._program_name} in {self._control_plane.name}"

    @property
    def seen(self) -> object:
        """The pods and which of them are ready: another value than before if anything changes."""
        return self.name, {uid: each.ready for uid, each in self._running.items()}

    def step(self) -> None:
        """Start, probe and end processes until they match the pods.

        Raises:
            ApiError, ApiUnreachableError: the step is incomplete; the next one retries.
            NoControllerError: the sandbox has no controller to run.
        """
        pods = {pod["metadata"]["uid"]: pod for pod in self._pods()}
        for uid in self._running.keys() - pods.keys():
            self._end(uid)
        for uid, pod in pods.items():
            if "deletionTimestamp" in pod["metadata"]:
                self._end(uid)
                with unless_gone():
                    self._administrator.delete(f"{_path(pod)}?gracePeriodSeconds=0")
                continue
            if uid in self._running and self._running[uid].process.poll() is not None:
                _LOG.warning("%s ended and starts again", self.name)
                self._end(uid)
            if uid not in self._running:
                self._running[uid] = self._start(uid, _Manifest.of(pod))
            elif not self._running[uid].ready:
                self._attend_to(pod, self._running[uid])

    def close(self) -> None:
        """End all processes, and close the connection."""
        for uid in list(self._running):
            self._end(uid)
        self._administrator.close()

    def _pods(self) -> list[dict[str, Any]]:
        """Return the pods that are bound to a node."""
        selector = f"name={CONTROLLERS[self._program_name]}"
        found = self._administrator.get("/api/v1/pods", labelSelector=selector, resourceVersion="0")
        return [pod for pod in found["items"] if pod["spec"].get("nodeName")]

    def _start(self, uid: str, manifest: _Manifest) -> _Process:
        name = self._program_name
        program = self._program(name)
        if program is None:
            raise NoControllerError(
                f"the sandbox has no controller of {name}; run `up` with --sandbox for a stack "
                f"with addons.{name}, which builds it"
            )
        directory = self._control_plane.directory / name / uid
        mount = directory / CERTIFICATES
        mount.mkdir(parents=True, exist_ok=True, mode=0o700)
        webhook, probe = _free_ports()
        found = self._administrator.get(f"{manifest.space}/configmaps/{manifest.config_map}")
        config = _on_this_machine(found["data"][manifest.config_file], webhook, probe, mount)
        if name in _FIXED_DIRECTORY:
            config["internalCertManagement"] = {"enable": False}
            self._make_certificate(mount, manifest.namespace)
        (directory / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        write_private(directory / "kubeconfig", self._kubeconfig(manifest).encode())
        process = self._spawn(
            [*program, f"{_CONFIG}{directory / 'config.yaml'}", *manifest.arguments],
            name=f"{self._control_plane.name}-{name}-{uid}",
            log_path=self._control_plane.directory / LOGS / f"{name}.log",
            env={"KUBECONFIG": str(directory / "kubeconfig")},
        )
        _LOG.info("%s starts", self.name)
        return _Process(process, manifest, directory, webhook, probe)

    def _make_certificate(self, mount: Path, namespace: str) -> None:
        """Write the certificate of the webhooks, and let the API server trust it."""
        configurations = self._webhooks(namespace)
        hosts = {_host(each): None for hooks in configurations.values() for each in hooks}
        made = make_server_certificate(mount, "tls", [x509.DNSName(host) for host in hosts])
        bundle = base64.b64encode(made.authority.read_bytes()).decode()
        for path, webhooks in configurations.items():
            hooks = [
                {"name": each["name"], "clientConfig": {"caBundle": bundle}} for each in webhooks
            ]
            self._administrator.patch(path, {"webhooks": hooks}, STRATEGIC_MERGE_PATCH)

    def _webhooks(self, namespace: str) -> dict[str, list[dict[str, Any]]]:
        """Return the webhooks of a namespace, by the path of their configuration."""
        found: dict[str, list[dict[str, Any]]] = {}
        for kind in ("mutating", "validating"):
            path = f"{_WEBHOOKS}/{kind}webhookconfigurations"
            for each in self._administrator.get(path)["items"]:
                webhooks = each.get("webhooks") or []
                if any(_service(hook).get("namespace") == namespace for hook in webhooks):
                    found[f"{path}/{each['metadata']['name']}"] = webhooks
        return found

    def _kubeconfig(self, manifest: _Manifest) -> str:
        """Return a kubeconfig with the permissions of the pod."""
        token = f"{manifest.space}/serviceaccounts/{manifest.service_account}/token"
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _TOKEN_SECONDS},
        }
        return kubeconfig(
            cluster=self._control_plane.name,
            endpoint=self._control_plane.endpoint,
            certificate_authority_data=self._control_plane.certificate_authority_data,
            token=self._administrator.post(token, request)["status"]["token"],
        )

    def _attend_to(self, pod: Mapping[str, Any], running: _Process) -> None:
        """Mount the certificate that the controller makes, and report when it is ready."""
        manifest = running.manifest
        secret = self._administrator.get(f"{manifest.space}/secrets/{manifest.certificate}")
        data = secret.get("data") or {}
        mount = running.directory / CERTIFICATES
        for name, content in data.items():
            # The controller watches the files.
            if not (mount / name).exists():
                write_private(mount / name, base64.b64decode(content))
        if not is_ready(running.probe_port):
            return
        hooks = [each for some in self._webhooks(manifest.namespace).values() for each in some]
        port = running.webhook_port
        if not all(answers(port, _host(each), each["clientConfig"]) for each in hooks):
            return
        for name in {_service(each)["name"] for each in hooks}:
            service = self._administrator.get(f"{manifest.space}/services/{name}")["spec"]
            for each in service["ports"]:
                self._control_plane.service_ports[service["clusterIP"], each["port"]] = port
        status = running_status(pod, self._address_of(pod["spec"]["nodeName"]), _NUMBER)
        with unless_gone():
            self._administrator.patch(
                f"{_path(pod)}/status", {"status": status}, STRATEGIC_MERGE_PATCH
            )
        running.ready = True
        _LOG.info("%s is ready", self.name)

    def _address_of(self, node: str) -> str:
        addresses = self._administrator.get(f"/api/v1/nodes/{node}")["status"]["addresses"]
        return next(each["address"] for each in addresses if each["type"] == "InternalIP")

    def _end(self, uid: str) -> None:
        running = self._running.pop(uid, None)
        if running is None:
            return
        running.process.kill()
        running.process.wait()
        remove_tree(running.directory)


def _path(pod: Mapping[str, Any]) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _service(webhook: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the Service that a webhook leads to; empty for one with an address."""
    return webhook["clientConfig"].get("service") or {}


def _host(webhook: Mapping[str, Any]) -> str:
    """Return the name for which the API server expects a certificate of a webhook.

    https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#service-reference
    """
    service = _service(webhook)
    return f"{service['name']}.{service['namespace']}.svc"


def _on_this_machine(released: str, webhook: int, probe: int, certificates: Path) -> dict[str, Any]:
    """Return the configuration with addresses and files of this machine.

    Metrics are not served, and there is no election, because each cluster has one controller.
    """
    return {
        **yaml.safe_load(released),
        "health": {"healthProbeBindAddress": f"127.0.0.1:{probe}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
    }


def _free_ports() -> tuple[int, int]:
    """Return two free ports; the first is held until the second is found."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


_INTERVAL_SECONDS = 0.5


class Controllers:
    """The controllers of all clusters. The daemon runs `run` in a thread."""

    def __init__(
        self,
        control_planes: ControlPlanes,
        program: Callable[[str], Sequence[str] | None],
        spawn: Spawn,
    ) -> None:
        """Start without processes; the arguments are those of `Controller`."""
        self._control_planes = control_planes
        self._program = program
        self._spawn = spawn
        self._clusters: dict[ControlPlane, list[Controller]] = {}
        self._reported: dict[str, str] = {}

    def run(self, stop_event: threading.Event) -> None:
        """Run steps until `stop_event` is set; errors are logged once and retried."""
        pace = Pace(_INTERVAL_SECONDS)
        while not stop_event.wait(pace.interval(self._seen())):
            self.step()
        for each in [*self._clusters]:
            self._leave(each)

    def _seen(self) -> object:
        return [each.seen for controllers in self._clusters.values() for each in controllers]

    def step(self) -> None:
        """Look for clusters, and perform due actions in each."""
        found = [self._control_planes.get(name) for name in self._control_planes.names()]
        current = [each for each in found if each is not None]
        for gone in [each for each in self._clusters if each not in current]:
            self._leave(gone)
        for each in current:
            if each not in self._clusters:
                self._clusters[each] = [
                    Controller(name, each, self._program, self._spawn) for name in CONTROLLERS
                ]
            for controller in self._clusters[each]:
                self._step(controller)

    def _step(self, controller: Controller) -> None:
        name = controller.name
        try:
            controller.step()
        except Exception as error:  # the thread must not end
            problem = f"{name}: {type(error).__name__}: {error}"
            if self._reported.get(name) != problem:
                _LOG.warning("%s", problem)
            self._reported[name] = problem
        else:
            self._reported.pop(name, None)

    def _leave(self, cluster: ControlPlane) -> None:
        for each in self._clusters.pop(cluster):
            each.close()
