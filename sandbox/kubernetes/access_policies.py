"""Binds the groups that stand for EKS's access policies to roles with the same rights.

EKS has an authorizer of its own for them. The sandbox puts whoever has a policy for the whole
cluster into a group, and every control plane binds that group to the role with the same rights.
The roles are Kubernetes's own; only `AmazonEKSAdminViewPolicy`, which sees secrets too, has none.
Source: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox.kubernetes.api import ApiError, KubernetesApi

GROUPS: Mapping[str, str] = {
    "AmazonEKSAdminPolicy": "sandbox:eks-admin",
    "AmazonEKSAdminViewPolicy": "sandbox:eks-admin-view",
    "AmazonEKSClusterAdminPolicy": "system:masters",
    "AmazonEKSEditPolicy": "sandbox:eks-edit",
    "AmazonEKSViewPolicy": "sandbox:eks-view",
}
"""Group of each policy that the sandbox plays, by the policy's name."""

BOOTSTRAP_LABEL = "kubernetes.io/bootstrapping"
"""On the roles and bindings that every new cluster has; the API server sets it on its own ones."""

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
    """Make the bindings of a cluster; those that are there stay."""
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
