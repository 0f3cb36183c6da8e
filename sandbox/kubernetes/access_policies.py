"""Bind groups that represent EKS access policies to roles with the same permissions.

EKS has its own authorizer for access policies. The sandbox adds a principal with a policy for the
whole cluster to a group, and every control plane binds that group to a role with the same
permissions. The roles are Kubernetes defaults, except for `AmazonEKSAdminViewPolicy`, which can
also read secrets and has no equivalent.
Source: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.sandbox.kubernetes.api import ApiError, KubernetesApi

GROUPS: Mapping[str, str] = {
    "AmazonEKSAdminPolicy": "sandbox:eks-admin",
    "AmazonEKSAdminViewPolicy": "sandbox:eks-admin-view",
    "AmazonEKSClusterAdminPolicy": "system:masters",
    "AmazonEKSEditPolicy": "sandbox:eks-edit",
    "AmazonEKSViewPolicy": "sandbox:eks-view",
}
"""Group of each emulated policy, by the policy's name."""

BOOTSTRAP_LABEL = "kubernetes.io/bootstrapping"
"""Label of the roles and bindings of every new cluster; the API server sets it on its defaults."""

_API = "/apis/rbac.authorization.k8s.io/v1"
_CONFLICT = 409
_VIEW_ALL = "sandbox:view-all"
_ROLES = {
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSAdminViewPolicy": _VIEW_ALL,
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSViewPolicy": "view",
}


def bind_access_policies(api: KubernetesApi) -> None:
    """Create the bindings of a cluster; existing ones are kept."""
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    _post(api, "clusterroles", _named("ClusterRole", _VIEW_ALL, rules=[everything]))
    for policy, role in _ROLES.items():
        binding = _named(
            "ClusterRoleBinding",
            GROUPS[policy],
            roleRef={
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role,
            },
            subjects=[
                {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "Group",
                    "name": GROUPS[policy],
                }
            ],
        )
        _post(api, "clusterrolebindings", binding)


def _post(api: KubernetesApi, kind: str, content: dict[str, Any]) -> None:
    try:
        api.post(f"{_API}/{kind}", content)
    except ApiError as error:
        if error.status != _CONFLICT:
            raise


def _named(kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": {BOOTSTRAP_LABEL: "eks-access-policies"}},
        **content,
    }
