"""Control planes: one set of real Kubernetes processes for each EKS cluster."""

from __future__ import annotations

import re
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
import yaml

from trainyard.sandbox.access import KEY_VARIABLE, Endpoint
from trainyard.sandbox.kubernetes.api import ApiError, ApiUnreachableError, KubernetesApi
from trainyard.sandbox.kubernetes.container_logs import ContainerLogs, KubeletServer
from trainyard.sandbox.kubernetes.credentials import (
    SERVICE_CIDR,
    Credentials,
    ServerCertificate,
    bind_access_policies,
    kubeconfig,
    make_credentials,
    make_etcd_certificate,
    make_webhook_certificate,
    webhook_config,
)
from trainyard.sandbox.kubernetes.emulation import (
    KUBERNETES_VERSION,
    UnsupportedVersionError,
    check_version,
    emulated_version,
    served_version,
)
from trainyard.sandbox.private_files import write_private
from trainyard.sandbox.processes import Spawn
from trainyard.sandbox.removal import remove_tree

# The command lines of a control plane's programs, which contain no secrets.
#
# Sources: the reference pages of the programs below
# https://kubernetes.io/docs/reference/command-line-tools-reference/ and
# https://etcd.io/docs/v3.6/op-guide/configuration/


PROGRAMS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "authenticator",
)
"""The programs of a control plane."""

CONTROLLERS: Mapping[str, str] = {
    "jobset": "jobset-controller-manager",
    "kueue": "kueue-controller-manager",
}
"""Released controllers that the sandbox builds and runs in pods (`controllers/go.mod`): the label
`name` of these pods by program.

`namePrefix` in `config/default/kustomization.yaml` of https://github.com/kubernetes-sigs/jobset and
https://github.com/kubernetes-sigs/kueue, and the Deployment's name in `config/manager/manager.yaml`
"""

SCHEDULERS = ("default-scheduler", "my-scheduler")
"""`schedulerName` of pods, without one and in all examples of Neuron:
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/deploy/infrastructure/scheduler.html"""

LOGS = "logs"
"""Directory of the programs' logs in a control plane's directory."""

MANAGED_LABEL = "sandbox.trainyard/kubelet"
MANAGED_VALUE = "running"
"""kwok keeps only Nodes with this label alive: those whose kubelet has been admitted."""

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
"""Annotation of the pods of an indexed Job.
https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-completion-index"""

_CONTROLLERS = (
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    # Without it nodes keep the not-ready taint, and DaemonSets are not scheduled on any node.
    "node-lifecycle-controller",
    # Without the first no claim is bound; without the others deleted objects never disappear.
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
)
"""Controllers that a training cluster needs; each additional one costs memory and watches."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports on 127.0.0.1."""

    etcd: int
    etcd_peer: int
    api_server: int
    authenticator: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The files of a control plane."""

    directory: Path

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig file."""
        return self.directory / "kubeconfig"

    @property
    def webhook(self) -> Path:
        """The API server's configuration of the authenticator."""
        return self.directory / "webhook.yaml"

    @property
    def scheduler_config(self) -> Path:
        """The scheduler's configuration."""
        return self.directory / "scheduler.yaml"

    @property
    def egress_selection(self) -> Path:
        """The API server's configuration of connections to nodes."""
        return self.directory / "egress.yaml"

    @property
    def version(self) -> Path:
        """File with the minor version that the cluster serves, for inspection."""
        return self.directory / "version"

    def log(self, program: str) -> Path:
        """The log file of a program."""
        return self.directory / LOGS / f"{program}.log"


def etcd(layout: Layout, ports: Ports, tls: ServerCertificate) -> list[str]:
    """Return etcd's arguments; without fsync, because the data need not be durable.

    Clients and peers need a certificate: https://etcd.io/docs/v3.6/op-guide/security/
    """
    client = f"https://127.0.0.1:{ports.etcd}"
    peer = f"https://127.0.0.1:{ports.etcd_peer}"
    return [
        "--name=etcd",
        f"--data-dir={layout.directory / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=etcd={peer}",
        "--client-cert-auth",
        f"--trusted-ca-file={tls.authority}",
        f"--cert-file={tls.certificate}",
        f"--key-file={tls.key}",
        "--peer-client-cert-auth",
        f"--peer-trusted-ca-file={tls.authority}",
        f"--peer-cert-file={tls.certificate}",
        f"--peer-key-file={tls.key}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def kube_apiserver(
    layout: Layout,
    ports: Ports,
    credentials: Credentials,
    etcd_tls: ServerCertificate,
    emulated: str | None = None,
) -> list[str]:
    """Return the API server's arguments, with EKS's admission and authorization.

    `emulated` is the minor version to emulate, here and below; None for the programs' own.
    """
    return [
        *_emulation(emulated),
        f"--etcd-servers=https://127.0.0.1:{ports.etcd}",
        f"--etcd-cafile={etcd_tls.authority}",
        f"--etcd-certfile={etcd_tls.certificate}",
        f"--etcd-keyfile={etcd_tls.key}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",  # a loopback address is not a valid Service endpoint
        f"--secure-port={ports.api_server}",
        f"--tls-cert-file={credentials.serving_certificate}",
        f"--tls-private-key-file={credentials.serving_key}",
        f"--token-auth-file={credentials.token_file}",
        f"--authentication-token-webhook-config-file={layout.webhook}",
        "--authentication-token-webhook-version=v1",
        # A cached denial must not reject a node that has just been admitted.
        "--authentication-token-webhook-cache-ttl=0s",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={credentials.service_account_public_key}",
        f"--service-account-signing-key-file={credentials.service_account_key}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        f"--egress-selector-config-file={layout.egress_selection}",
        "--allow-privileged=true",
        "--profiling=false",
    ]


def kube_controller_manager(
    layout: Layout, credentials: Credentials, emulated: str | None = None
) -> list[str]:
    """Return the controller manager's arguments."""
    return [
        *_emulation(emulated),
        f"--kubeconfig={layout.kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",  # metrics are not used
        f"--service-account-private-key-file={credentials.service_account_key}",
        f"--root-ca-file={credentials.certificate_authority}",
        f"--controllers={','.join(_CONTROLLERS)}",
    ]


def kube_scheduler(layout: Layout, emulated: str | None = None) -> list[str]:
    """Return the scheduler's arguments; the rest is in its configuration."""
    return [*_emulation(emulated), f"--config={layout.scheduler_config}", "--secure-port=0"]


def scheduler_config(layout: Layout) -> str:
    """Return the scheduler's configuration.

    Pods of the sandbox are simulated, so a scheduler in a Deployment schedules nothing. The control
    plane's scheduler also handles the pods of the Neuron scheduler, as pods that request devices
    regardless of device adjacency.
    """
    return yaml.safe_dump(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(layout.kubeconfig)},
            "leaderElection": {"leaderElect": False},
            "profiles": [{"schedulerName": name} for name in SCHEDULERS],
        }
    )


def _emulation(emulated: str | None) -> list[str]:
    return [f"--emulated-version=kube={emulated}"] if emulated else []


def kwok(layout: Layout, left_alone: Collection[str] = ()) -> list[str]:
    """Return the arguments of kwok, which keeps nodes alive and runs their pods.

    Source: https://kwok.sigs.k8s.io/docs/user/configuration/

    Args:
        layout: Files of the control plane.
        left_alone: Values of the label `name` of pods that it does not run, in addition to those of
            controllers, which `trainyard.sandbox.kubernetes.controllers` runs.
    """
    names = ",".join(sorted({*left_alone, *CONTROLLERS.values()}))
    return [
        f"--disregard-status-with-label-selector=name in ({names})",
        # `JobPods` runs these.
        f"--disregard-status-with-annotation-selector={COMPLETION_INDEX}",
        f"--kubeconfig={layout.kubeconfig}",
        "--manage-all-nodes=false",
        f"--manage-nodes-with-label-selector={MANAGED_LABEL}={MANAGED_VALUE}",
        "--node-lease-duration-seconds=40",
        "--node-ip=127.0.0.1",
    ]


def authenticator(
    layout: Layout, ports: Ports, tls: ServerCertificate, *, cluster: str, aws_endpoint: str
) -> list[str]:
    """Return the arguments of the API server's token webhook."""
    return [
        f"--kubeconfig={layout.kubeconfig}",
        f"--listen=127.0.0.1:{ports.authenticator}",
        f"--tls-cert-file={tls.certificate}",
        f"--tls-private-key-file={tls.key}",
        f"--cluster={cluster}",
        f"--account-endpoint={aws_endpoint}",
    ]


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
        return Layout(self.directory).kubeconfig

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
    _ports: Ports
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
        self._layout = Layout(directory)
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
        self._program("etcd", name, etcd(layout, ports, self._etcd))
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
        arguments = kube_apiserver(
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
        manager = kube_controller_manager(layout, self._credentials, emulated)
        self._program("kube-controller-manager", name, manager)
        self._program("kube-scheduler", name, kube_scheduler(layout, emulated))
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
        scheduler = scheduler_config(self._layout)
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
        webhook = authenticator(
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
        self._program("kwok", name, kwok(self._layout, left_alone), environment)

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


def _free_ports() -> Ports:
    """Return free ports; all are held until the last one is found."""
    with ExitStack() as stack:
        found: list[int] = []
        for _ in range(4):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            found.append(listener.getsockname()[1])
    return Ports(*found)


__all__ = [
    "KUBERNETES_VERSION",
    "ControlPlane",
    "ControlPlaneError",
    "ControlPlanes",
    "UnsupportedVersionError",
    "check_version",
]

_ATTEMPTS = 3
_CLUSTER_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
"""Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html"""


@dataclass(slots=True)
class _Running:
    control_plane: ControlPlane
    startup: Startup


class ControlPlanes:
    """The control planes of a sandbox, by cluster name; thread-safe."""

    def __init__(
        self,
        directory: Path,
        programs: Mapping[str, Sequence[str]],
        account: Endpoint,
        spawn: Spawn,
    ) -> None:
        """Store all files below `directory`, in one directory per cluster.

        Files of an earlier sandbox are removed, except for logs.

        Raises:
            ValueError: `programs` lacks a program that a control plane requires.
        """
        missing = [name for name in PROGRAMS if name not in programs]
        if missing:
            raise ValueError(f"no command is known for the Kubernetes programs {missing}")
        self._directory = directory
        self._programs = {name: list(prefix) for name, prefix in programs.items()}
        self._account = account
        self._spawn = spawn
        self._lock = threading.Condition()
        self._running: dict[str, _Running] = {}
        self._starting: dict[str, threading.Event] = {}
        """By cluster: set the event to cancel the start."""
        for left in directory.iterdir() if directory.is_dir() else ():
            _keep_logs(left)

    def create(self, name: str, version: str | None = None) -> ControlPlane:
        """Start a control plane and wait until it is ready; takes 3 to 4 seconds.

        Raises:
            UnsupportedVersionError: the sandbox does not support `version`.
            ValueError: `name` is not a valid name of an EKS cluster, or is in use.
            ControlPlaneError: a program ended or did not become ready, or the cluster was stopped
                meanwhile.
        """
        check_version(name, version)
        if not _CLUSTER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name that EKS accepts for a cluster")
        with self._lock:
            if name in self._running or name in self._starting:
                raise ValueError(f"cluster {name!r} has a control plane already")
            given_up = self._starting[name] = threading.Event()
        running = None
        try:
            running = self._start(name, version, given_up)
            return running.control_plane
        finally:
            with self._lock:
                del self._starting[name]
                if running:
                    self._running[name] = running
                self._lock.notify_all()

    def upgrade(self, name: str, version: str) -> None:
        """Serve another minor version with the same control plane; objects and nodes are kept.

        Raises:
            UnsupportedVersionError: the sandbox does not support `version`.
            ValueError: the cluster has no ready control plane, or is being changed.
            ControlPlaneError: a program ended or did not become ready, or the cluster was stopped
                meanwhile.
        """
        check_version(name, version)
        with self._lock:
            running = self._running.get(name)
            if running is None or name in self._starting:
                raise ValueError(f"cluster {name!r} has no control plane that serves")
            given_up = self._starting[name] = threading.Event()
        try:
            running.startup.upgrade(running.control_plane, version, given_up)
        finally:
            with self._lock:
                del self._starting[name]
                self._lock.notify_all()

    def leave_alone(self, name: str, pods: Collection[str]) -> None:
        """Keep pods with one of these values of the label `name` from running in a cluster.

        Waits for an upgrade in progress, which fails if a program ends.
        """
        with self._lock:
            while name in self._starting:
                self._lock.wait()
            running = self._running.get(name)
            if running is not None:
                running.startup.leave_alone(running.control_plane, pods)

    def get(self, name: str) -> ControlPlane | None:
        """Return a cluster's control plane, or None if it is not ready."""
        with self._lock:
            running = self._running.get(name)
        return running.control_plane if running else None

    def names(self) -> list[str]:
        """Return the names of the clusters that have a control plane, sorted."""
        with self._lock:
            return sorted(self._running)

    def stop(self, name: str) -> None:
        """Stop a control plane and keep only its logs, if it exists.

        A start in progress is canceled.
        """
        with self._lock:
            while name in self._starting:
                self._starting[name].set()
                self._lock.wait()
            running = self._running.pop(name, None)
        if running:
            running.startup.end()
        _keep_logs(self._directory / name)

    def delete(self, name: str) -> None:
        """Stop a control plane and remove its directory, if it exists."""
        self.stop(name)
        remove_tree(self._directory / name)

    def stop_all(self) -> None:
        """Stop all control planes; logs are kept."""
        with self._lock:
            names = [*self._running, *self._starting]
        for name in names:
            self.stop(name)

    def _start(self, name: str, version: str | None, given_up: threading.Event) -> _Running:
        """Start with free ports; retry once if another process has taken one meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            startup = Startup(self._directory / name, self._programs, self._spawn, given_up)
            try:
                return _Running(startup.run(name, self._account, version), startup)
            except BaseException as error:
                startup.end()
                taken = "address already in use" in str(error)
                if not (isinstance(error, ControlPlaneError) and taken and attempt < _ATTEMPTS):
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")


def _keep_logs(directory: Path) -> None:
    """Remove all files of a control plane except logs: keys, kubeconfig, etcd's data."""
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.is_file():
            path.unlink()
        elif path.name != LOGS:
            remove_tree(path)
