"""The controllers of Kueue and JobSet, the only pods of the sandbox that run programs.

A pod of such a Deployment that is bound to a node becomes a process of this machine: the released
controller, with the configuration and the permissions of the pod. This module does what the kubelet
would: it mounts the certificate, probes, and reports the status. Addresses differ, because all
clusters share this machine.
"""

from __future__ import annotations

import base64
import logging
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any

import urllib3
import yaml

from components.catalog.controller_releases import (
    CONFIG_FILE,
    CONTROLLER_RELEASES,
    ControllerRelease,
)
from sandbox.kubernetes.api import STRATEGIC_MERGE_PATCH, unless_gone
from sandbox.kubernetes.commands import LOGS
from sandbox.kubernetes.control_planes import ControlPlanes
from sandbox.kubernetes.credentials import kubeconfig, write_private
from sandbox.kubernetes.pod_status import running_status
from sandbox.kubernetes.startup import ControlPlane
from sandbox.processes import Spawn
from sandbox.removal import remove_tree

_LOG = logging.getLogger(__name__)

_TOKEN_SECONDS = 30 * 24 * 3600
"""A sandbox lives for days; the token of a pod would be renewed by the kubelet."""
_NUMBER = 0
"""Number of the pod, from which its address is derived; those of Jobs begin with 1."""
_PROBE_SECONDS = 1.0
_INTERVAL_SECONDS = 0.5


class NoControllerError(Exception):
    """A cluster has a pod of the controller, but the sandbox has no program for it."""


@dataclass(slots=True)
class _Process:
    """The process of a pod."""

    process: Popen[Any]
    directory: Path
    webhook_port: int
    probe_port: int
    ready: bool = False


class Controller:
    """One controller in one cluster, by pod."""

    def __init__(
        self,
        release: ControllerRelease,
        control_plane: ControlPlane,
        program: Callable[[str], Sequence[str] | None],
        spawn: Spawn,
    ) -> None:
        """Start without processes.

        Args:
            release: The controller.
            control_plane: The cluster.
            program: Returns the command of a controller; None if the sandbox has none.
            spawn: Starts a process.
        """
        self._release = release
        self._space = f"/api/v1/namespaces/{release.namespace}"
        self._control_plane = control_plane
        self._administrator = control_plane.administrator()
        self._program = program
        self._spawn = spawn
        self._running: dict[str, _Process] = {}

    @property
    def name(self) -> str:
        """The controller and its cluster, for messages."""
        return f"{self._release.name} in {self._control_plane.name}"

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
                    self._administrator.delete(f"{self._path(pod)}?gracePeriodSeconds=0")
                continue
            if uid in self._running and self._running[uid].process.poll() is not None:
                _LOG.warning("%s ended and starts again", self.name)
                self._end(uid)
            if uid not in self._running:
                self._running[uid] = self._start(uid)
            elif not self._running[uid].ready:
                self._attend_to(pod, self._running[uid])

    def close(self) -> None:
        """End all processes, and close the connection."""
        for uid in list(self._running):
            self._end(uid)
        self._administrator.close()

    def _pods(self) -> list[dict[str, Any]]:
        """Return the pods that are bound to a node."""
        selector = f"name={self._release.deployment}"
        found = self._administrator.get(
            f"{self._space}/pods", labelSelector=selector, resourceVersion="0"
        )
        return [pod for pod in found["items"] if pod["spec"].get("nodeName")]

    def _start(self, uid: str) -> _Process:
        name = self._release.name
        program = self._program(name)
        if program is None:
            raise NoControllerError(
                f"the sandbox has no controller of {name}; run `up` with --sandbox for a stack "
                f"with addons.{name}, which builds it"
            )
        directory = self._control_plane.directory / name / uid
        directory.mkdir(parents=True, mode=0o700)
        webhook, probe = _free_ports()
        released = self._get(f"configmaps/{self._release.config_map}")["data"][CONFIG_FILE]
        config = _on_this_machine(released, webhook, probe, directory / "certificates")
        (directory / "config.yaml").write_text(config, encoding="utf-8")
        write_private(directory / "kubeconfig", self._kubeconfig().encode())
        process = self._spawn(
            [*program, f"--config={directory / 'config.yaml'}", "--zap-log-level=2"],
            name=f"{self._control_plane.name}-{name}-{uid}",
            log_path=self._control_plane.directory / LOGS / f"{name}.log",
            env={"KUBECONFIG": str(directory / "kubeconfig")},
        )
        _LOG.info("%s starts", self.name)
        return _Process(process, directory, webhook, probe)

    def _kubeconfig(self) -> str:
        """Return a kubeconfig with the permissions of the pod."""
        token = f"{self._space}/serviceaccounts/{self._release.deployment}/token"
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
        data = self._get(f"secrets/{self._release.certificate}").get("data") or {}
        mount = running.directory / "certificates"
        mount.mkdir(exist_ok=True, mode=0o700)
        for name, content in data.items():
            # The controller watches the files.
            if not (mount / name).exists():
                write_private(mount / name, base64.b64decode(content))
        if not _is_ready(running.probe_port):
            return
        service = self._get(f"services/{self._release.webhook_service}")["spec"]
        for port in service["ports"]:
            address = (service["clusterIP"], port["port"])
            self._control_plane.service_ports[address] = running.webhook_port
        status = running_status(pod, self._address_of(pod["spec"]["nodeName"]), _NUMBER)
        with unless_gone():
            self._administrator.patch(
                f"{self._path(pod)}/status", {"status": status}, STRATEGIC_MERGE_PATCH
            )
        running.ready = True
        _LOG.info("%s is ready", self.name)

    def _get(self, path: str) -> dict[str, Any]:
        """Return an object of the controller's namespace."""
        return self._administrator.get(f"{self._space}/{path}")

    def _path(self, pod: Mapping[str, Any]) -> str:
        return f"{self._space}/pods/{pod['metadata']['name']}"

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
        while not stop_event.wait(_INTERVAL_SECONDS):
            self.step()
        for each in [*self._clusters]:
            self._leave(each)

    def step(self) -> None:
        """Look for clusters, and perform due actions in each."""
        found = [self._control_planes.get(name) for name in self._control_planes.names()]
        current = [each for each in found if each is not None]
        for gone in [each for each in self._clusters if each not in current]:
            self._leave(gone)
        for each in current:
            if each not in self._clusters:
                self._clusters[each] = [
                    Controller(release, each, self._program, self._spawn)
                    for release in CONTROLLER_RELEASES.values()
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


def _on_this_machine(released: str, webhook: int, probe: int, certificates: Path) -> str:
    """Return the configuration with addresses and files of this machine.

    Metrics are not served, and there is no election, because each cluster has one controller.
    """
    return yaml.safe_dump(
        {
            **yaml.safe_load(released),
            "health": {"healthProbeBindAddress": f"127.0.0.1:{probe}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(certificates)},
            "leaderElection": {"leaderElect": False},
        }
    )


def _is_ready(port: int) -> bool:
    try:
        answer = urllib3.request(
            "GET", f"http://127.0.0.1:{port}/readyz", retries=False, timeout=_PROBE_SECONDS
        )
    except urllib3.exceptions.HTTPError:
        return False
    return answer.status == 200


def _free_ports() -> tuple[int, int]:
    """Return two free ports; the first is held until the second is found."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
