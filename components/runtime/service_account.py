"""A service account in `kube-system` and its cluster-wide permissions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from trainyard.components.kubernetes_object import KubernetesObject
from trainyard.components.runtime.workload_plan import NAMESPACE, ServiceAccountPlan, metadata

_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccountWithRolesArgs:
    """Arguments of `ServiceAccountWithRoles`."""

    provider: kubernetes.Provider
    account: ServiceAccountPlan


class ServiceAccountWithRoles(pulumi.ComponentResource):
    """A service account with a cluster role for its rules, and further cluster roles.

    Children: `<name>-account` (`core.v1.ServiceAccount`), `<name>-role` (`rbac.v1.ClusterRole`),
    `<name>-binding` and `<name>-<binding>` for each further role (`rbac.v1.ClusterRoleBinding`).
    """

    name: pulumi.Output[str]
    """Name of the service account; resolves when all bindings exist."""

    def __init__(
        self,
        name: str,
        args: ServiceAccountWithRolesArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:runtime:ServiceAccountWithRoles", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        plan = args.account
        account = KubernetesObject(
            f"{name}-account",
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": metadata(plan.name, plan.labels),
            },
            child,
        )
        role = KubernetesObject(
            f"{name}-role",
            {
                **_of_cluster("ClusterRole", plan.name, plan.labels),
                "rules": [
                    {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}
                    for group, resources, verbs in plan.rules
                ],
            },
            child,
        )
        account_name = account.metadata["name"]
        subject = {"kind": "ServiceAccount", "name": account_name, "namespace": NAMESPACE}
        bindings = {plan.name: role.metadata["name"], **plan.further_roles}
        bound = [
            KubernetesObject(
                f"{name}-binding" if binding == plan.name else f"{name}-{binding}",
                {
                    **_of_cluster("ClusterRoleBinding", binding, plan.labels),
                    "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": bound_role},
                    "subjects": [subject],
                },
                child,
            )
            for binding, bound_role in bindings.items()
        ]
        in_force = [account_name, *(each.metadata["name"] for each in bound)]
        self.name = pulumi.Output.all(*in_force).apply(lambda names: names[0])
        self.register_outputs({"name": self.name})


def _of_cluster(kind: str, name: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": {"name": name, "labels": labels},
    }
