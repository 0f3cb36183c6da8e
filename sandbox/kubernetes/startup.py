"""Start a control plane: files, processes, and the wait until they are ready."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Any

import urllib3

from trainyard.sandbox.access import KEY_VARIABLE, Endpoint
from trainyard.sandbox.kubernetes import commands
from trainyard.sandbox.kubernetes.access_policies import bind_access_policies
from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError, KubernetesApi
from trainyard.sandbox.kubernetes.container_logs import ContainerLogs
from trainyard.sandbox.kubernetes.credentials import (
    Credentials,
    ServerCertificate,
    kubeconfig,
    make_credentials,
    make_etcd_certificate,
    make_webhook_certificate,
    webhook_config,
)
from trainyard.sandbox.kubernetes.emulation import emulated_version, served_version
from trainyard.sandbox.kubernetes.kubelet_server import KubeletServer
from trainyard.sandbox.private_files import write_private
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree

_READY_SECONDS = 90.0
"""Usually 3 to 4 s; several times as long on a machine that is busy with a build."""
_POLL_SECONDS = 0.05
_LOG_LINES = 15


class ControlPlaneError(Exception):
    """A control plane did not start; the message ends with the relevant log lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlPlane:
    """A running control plane."""

    name: str
    """Name of the EKS cluster."""
    endpoint: str
    """`https://127.0.0.1:PORT`."""
    certificate_authority_data: str = field(repr=False)
    """The certificate authority: base64 of PEM, as in EKS's `DescribeCluster`."""
    admin_token: str = field(repr=False)
    """Bearer token of a member of `system:masters`, for the sandbox and its kubeconfig."""
    access_key: str = field(repr=False)
    """Access key of the account, with which the nodes identify themselves."""
    directory: Path
    """Files of this control plane: `kubeconfig`, `logs/`, keys, etcd's data."""
    logs: ContainerLogs = field(default_factory=ContainerLogs, repr=False)
    """Logs of the containers on its nodes."""
    service_ports: dict[tuple[str, int], int] = field(
        default_factory=dict[tuple[str, int], int], repr=False, compare=False
    )
    """Ports of this machine that the API server reaches as Services, by cluster IP and port."""

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig file."""
        return commands.Layout(self.directory).kubeconfig

    def administrator(self) -> KubernetesApi:
        """Return a client with administrator permissions."""
        return KubernetesApi(
            self.endpoint,
            certificate_authority_data=self.certificate_authority_data,
            token=self.admin_token,
        )


class Startup:
    """An attempt to start a control plane, which can then be upgraded."""

    processes: dict[str, Popen[Any]]
    """Processes started so far, by program."""
    _kubelet_server: KubeletServer | None = None
    _ports: commands.Ports
    _credentials: Credentials
    _etcd: ServerCertificate
    _webhook: ServerCertificate

    def __init__(
        self,
        directory: Path,
        programs: Mapping[str, Sequence[str]],
        spawn: Spawn,
        given_up: threading.Event,
    ) -> None:
        """Prepare the start; starts no process.

        Args:
            directory: Directory for all files of the control plane; existing content is removed.
            programs: Command by program, to which its arguments are appended.
            spawn: Starts a process.
            given_up: When set, the start fails at its next step.
        """
        self.processes = {}
        self._given_up = given_up
        self._layout = commands.Layout(directory)
        self._programs = programs
        self._spawn = spawn
        self._deadline = time.monotonic() + _READY_SECONDS

    def run(self, name: str, account: Endpoint, version: str | None = None) -> ControlPlane:
        """Start all programs and return when pods can be created.

        `version` is the minor version to serve; None for the programs' own.

        Raises:
            ControlPlaneError: a program ended, was not ready in time, or the start was canceled.
        """
        layout, ports = self._layout, _free_ports()
        remove_tree(layout.directory)  # left by a killed sandbox
        layout.log("etcd").parent.mkdir(parents=True, mode=0o700)
        layout.directory.chmod(0o700)
        self._ports, self._etcd = ports, make_etcd_certificate(layout.directory / "etcd-pki")
        self._program("etcd", name, commands.etcd(layout, ports, self._etcd))
        self._webhook = make_webhook_certificate(layout.directory / "webhook-pki")
        credentials, token = make_credentials(layout.directory / "pki")
        self._credentials = credentials
        control_plane = ControlPlane(
            name=name,
            endpoint=f"https://127.0.0.1:{ports.api_server}",
            certificate_authority_data=credentials.certificate_authority_data,
            admin_token=token,
            access_key=account.access_key,
            directory=layout.directory,
        )
        self._kubelet_server = KubeletServer(
            control_plane.logs, credentials, control_plane.service_ports
        )
        self._write_configuration(control_plane, account, self._kubelet_server)
        self._start_api_server(control_plane, version)
        self._start_clients(name, account)
        self._start_controllers(control_plane, version)
        return control_plane

    def upgrade(self, control_plane: ControlPlane, version: str, given_up: threading.Event) -> None:
        """Serve another minor version at the same address, with the same keys and objects.

        EKS replaces API servers one by one; here the API is unavailable for some seconds.

        Raises:
            ControlPlaneError: a program ended, was not ready in time, or the upgrade was canceled.
        """
        self._given_up, self._deadline = given_up, time.monotonic() + _READY_SECONDS
        for program in ("kube-scheduler", "kube-controller-manager", "kube-apiserver"):
            process = self.processes.pop(program)
            process.kill()
            process.wait()
        self._start_api_server(control_plane, version)
        self._start_controllers(control_plane, version)

    def end(self) -> None:
        """End everything that was started; kills, because an API server closes watches slowly."""
        ended = list(self.processes.values())
        for process in ended:
            process.kill()
        for process in ended:
            process.wait()
        if self._kubelet_server is not None:
            self._kubelet_server.close()

    def _start_api_server(self, control_plane: ControlPlane, version: str | None) -> None:
        arguments = commands.kube_apiserver(
            self._layout, self._ports, self._credentials, self._etcd, emulated_version(version)
        )
        self._program("kube-apiserver", control_plane.name, arguments)
        api = control_plane.administrator()
        self._wait_for("the API server", lambda: api.text("/readyz"))
        api.close()
        self._layout.version.write_text(served_version(version), encoding="utf-8")

    def _start_controllers(self, control_plane: ControlPlane, version: str | None) -> None:
        """Start controllers, scheduler and kwok, and wait until pods can be created."""
        name, layout, emulated = control_plane.name, self._layout, emulated_version(version)
        manager = commands.kube_controller_manager(layout, self._credentials, emulated)
        self._program("kube-controller-manager", name, manager)
        self._program("kube-scheduler", name, commands.kube_scheduler(layout, emulated))
        api = control_plane.administrator()
        # Pods can be created once this exists; before, every one is rejected because it is missing.
        default_account = "/api/v1/namespaces/kube-system/serviceaccounts/default"
        self._wait_for("the controller manager", lambda: api.get(default_account))
        bind_access_policies(api)
        api.close()

    def _write_configuration(
        self, control_plane: ControlPlane, account: Endpoint, kubelet_server: KubeletServer
    ) -> None:
        text = kubeconfig(
            cluster=control_plane.name,
            endpoint=control_plane.endpoint,
            certificate_authority_data=control_plane.certificate_authority_data,
            token=control_plane.admin_token,
        )
        write_private(self._layout.kubeconfig, text.encode())
        address = f"https://127.0.0.1:{self._ports.authenticator}/authenticate"
        authority = self._webhook.authority
        webhook = webhook_config(address, authority=authority, token=account.access_key)
        write_private(self._layout.webhook, webhook.encode())
        scheduler = commands.scheduler_config(self._layout)
        write_private(self._layout.scheduler_config, scheduler.encode())
        egress = kubelet_server.egress_selection()
        write_private(self._layout.egress_selection, egress.encode())

    def leave_alone(self, control_plane: ControlPlane, names: Collection[str]) -> None:
        """Let kwok run all pods except those with one of these values of the label `name`.

        kwok reads its options only when it starts. It starts with the same identity as before, so
        it holds the leases of the nodes at once (`simulator.go`).
        """
        process = self.processes.pop("kwok", None)
        if process is not None:  # else the last start of kwok failed
            process.kill()
            process.wait()
        self._start_kwok(control_plane.name, names)

    def _start_clients(self, name: str, account: Endpoint) -> None:
        """Start the programs without a Kubernetes version: the authenticator and kwok."""
        layout, ports = self._layout, self._ports
        webhook = commands.authenticator(
            layout, ports, self._webhook, cluster=name, aws_endpoint=account.url
        )
        self._program("authenticator", name, webhook, {KEY_VARIABLE: account.access_key})
        self._start_kwok(name)
        self._wait_for(
            "the authenticator",
            lambda: _get(ports.authenticator, "/healthz", self._webhook.authority),
        )

    def _start_kwok(self, name: str, left_alone: Collection[str] = ()) -> None:
        # Otherwise kwok reads a configuration file in the user's home directory.
        environment = {"KWOK_WORKDIR": str(self._layout.directory / "kwok")}
        self._program("kwok", name, commands.kwok(self._layout, left_alone), environment)

    def _program(
        self,
        program: str,
        cluster: str,
        arguments: list[str],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.processes[program] = self._spawn(
            [*self._programs[program], *arguments],
            name=f"{cluster}-{program}",
            log_path=self._layout.log(program),
            env=environment,
        )

    def _wait_for(self, what: str, probe: Callable[[], object]) -> None:
        """Call `probe` until it raises no error, a program ends, or the time is up."""
        while True:
            try:
                probe()
            except (ApiError, ApiUnreachableError, urllib3.exceptions.HTTPError) as error:
                reason = str(error)
            else:
                return
            if self._given_up.is_set():
                raise ControlPlaneError("it was stopped before it was ready")
            for program, process in self.processes.items():
                if process.poll() is not None:
                    raise ControlPlaneError(
                        f"{program} ended with code {process.returncode}; the end of "
                        f"{self._layout.log(program)}:\n{self._tail(program)}"
                    )
            if time.monotonic() > self._deadline:
                raise ControlPlaneError(
                    f"{what} is not ready after {_READY_SECONDS:.0f} s ({reason}); the end of "
                    f"{self._layout.log('kube-apiserver')}:\n{self._tail('kube-apiserver')}"
                )
            self._given_up.wait(_POLL_SECONDS)

    def _tail(self, program: str) -> str:
        try:
            text = self._layout.log(program).read_text(errors="replace")
        except FileNotFoundError:
            return "(no log)"
        return "\n".join(text.splitlines()[-_LOG_LINES:])


def _get(port: int, path: str, authority: Path) -> None:
    """Raise an urllib3 HTTPError unless a server on the loopback interface responds."""
    with urllib3.PoolManager(ca_certs=str(authority)) as pool:
        url = f"https://127.0.0.1:{port}{path}"
        response = pool.request("GET", url, retries=False, timeout=5)
    if response.status != 200:
        raise urllib3.exceptions.HTTPError(f"HTTP {response.status}")


def _free_ports() -> commands.Ports:
    """Return free ports; all are held until the last one is found."""
    with ExitStack() as stack:
        found: list[int] = []
        for _ in range(4):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            found.append(listener.getsockname()[1])
    return commands.Ports(*found)
