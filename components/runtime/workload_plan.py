"""Workloads in `kube-system`, as plain Kubernetes manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NAMESPACE = "kube-system"

SKIP_AWAIT = "pulumi.com/skipAwait"
"""Pulumi waits until a Service has a ready pod; with this annotation, the pod can be created later.
https://www.pulumi.com/registry/packages/kubernetes/installation-configuration/#pulumicomskipawait"""

Manifest = Mapping[str, Any]
"""A Kubernetes object, or a part of one."""

UNPRIVILEGED: Manifest = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""Security context of a container without capabilities, which it cannot gain either."""
Rule = tuple[str, Sequence[str], Sequence[str]]
"""API group, resources and verbs that a role allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccountPlan:
    """A service account with a cluster role of the same name."""

    name: str
    """Name of the service account, its role and the role binding."""
    rules: Sequence[Rule]
    labels: Mapping[str, str]
    further_roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """Predefined cluster roles, by the name of their binding."""
    logical_name: str = "account"
    """Suffix of the component's logical name, which cannot change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """A DaemonSet or Deployment, and the objects that its pods need."""

    controller: Manifest
    """The DaemonSet or Deployment, without the name of its service account."""
    suffix: str = ""
    """Distinguishes the logical names of several workloads of one add-on."""
    account: ServiceAccountPlan | None = None
    config_map: Manifest | None = None
    """The ConfigMap that the pods mount."""
    service: Manifest | None = None
    """The Service in front of the pods."""
    objects_before: Sequence[Manifest] = ()
    """Further objects that exist before the pods."""
    objects_after: Sequence[Manifest] = ()
    """Objects that only exist once the pods are ready."""


def metadata(
    name: str,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Manifest:
    """Return the metadata of an object in `kube-system`."""
    optional = {"labels": labels, "annotations": annotations}
    given = {key: value for key, value in optional.items() if value is not None}
    return {"name": name, "namespace": NAMESPACE, **given}


def daemon_set(
    name: str,
    pod: Manifest,
    *,
    selector: Mapping[str, str],
    calls_api: bool,
    seccomp: bool = True,
    labels: Mapping[str, str] | None = None,
    pod_labels: Mapping[str, str] | None = None,
    rolling_update: Manifest | None = None,
) -> Manifest:
    """Return a DaemonSet.

    Args:
        name: Name of the DaemonSet.
        pod: Specification of its pods, without what `_restricted` adds.
        calls_api: Whether its pods call the Kubernetes API.
        seccomp: Whether their system calls are filtered.
        selector: Labels that select the pods; immutable.
        labels: Labels of the DaemonSet itself.
        pod_labels: Labels of the pods besides the selector.
        rolling_update: How an update proceeds; by default, one node after the other.
    """
    strategy = {"type": "RollingUpdate"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": metadata(name, labels),
        "spec": {
            "selector": {"matchLabels": selector},
            "updateStrategy": (
                {**strategy, "rollingUpdate": rolling_update} if rolling_update else strategy
            ),
            "template": {
                "metadata": {"labels": {**selector, **(pod_labels or {})}},
                "spec": _restricted(pod, calls_api=calls_api, seccomp=seccomp),
            },
        },
    }


def deployment(
    name: str,
    pod: Manifest,
    *,
    selector: Mapping[str, str],
    calls_api: bool,
    seccomp: bool = True,
    labels: Mapping[str, str],
    strategy: str | None = None,
) -> Manifest:
    """Return a Deployment of one replica, updated with the named strategy.

    `calls_api` and `seccomp` are as for a DaemonSet.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(name, labels),
        "spec": {
            "replicas": 1,
            **({"strategy": {"type": strategy}} if strategy else {}),
            "selector": {"matchLabels": selector},
            "template": {
                "metadata": {"labels": selector},
                "spec": _restricted(pod, calls_api=calls_api, seccomp=seccomp),
            },
        },
    }


def _restricted(pod: Manifest, *, calls_api: bool, seccomp: bool) -> Manifest:
    """Return a pod with the restrictions that all workloads have unless they need otherwise.

    Kubernetes gives every pod a token of its service account, and runs it without a filter of
    system calls. `docs/security.md` says for each workload which restrictions it has, and why not
    the others.

    Sources:
        https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
            (opting out of the token)
        https://kubernetes.io/docs/reference/node/seccomp/: `RuntimeDefault`, and that privileged
            containers always run unconfined
        https://github.com/containerd/containerd, `contrib/seccomp/seccomp_default.go`: the filter,
            which began as that of Docker. What a project documents as `docker run` without
            `--security-opt seccomp=…` works with it
            (https://docs.docker.com/engine/security/seccomp/).
    """
    context = {**pod.get("securityContext", {})}
    if seccomp:
        context["seccompProfile"] = {"type": "RuntimeDefault"}
    return {
        **({} if calls_api else {"automountServiceAccountToken": False}),
        **pod,
        **({"securityContext": context} if context else {}),
    }
