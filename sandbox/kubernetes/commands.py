"""The command lines of a control plane's programs, which contain no secrets.

Sources: the reference pages of the programs below
https://kubernetes.io/docs/reference/command-line-tools-reference/ and
https://etcd.io/docs/v3.6/op-guide/configuration/
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from trainyard.sandbox.kubernetes.credentials import SERVICE_CIDR, Credentials, ServerCertificate

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
            controllers, which `trainyard.sandbox.kubernetes.released_controllers` runs.
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
