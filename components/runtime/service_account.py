"""A service account in `kube-system` and its cluster-wide permissions."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta
from pulumi_kubernetes.rbac import v1 as rbac

from components.runtime.workload_plan import NAMESPACE, ServiceAccountPlan

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
        account = core.ServiceAccount(
            f"{name}-account",
            metadata=meta.ObjectMetaArgs(name=plan.name, namespace=NAMESPACE, labels=plan.labels),
            opts=child,
        )
        role = rbac.ClusterRole(
            f"{name}-role",
            metadata=meta.ObjectMetaArgs(name=plan.name, labels=plan.labels),
            rules=[
                rbac.PolicyRuleArgs(api_groups=[group], resources=[*resources], verbs=[*verbs])
                for group, resources, verbs in plan.rules
            ],
            opts=child,
        )
        bindings = {plan.name: role.metadata.name, **plan.further_roles}
        bound = [
            rbac.ClusterRoleBinding(
                f"{name}-binding" if binding == plan.name else f"{name}-{binding}",
                metadata=meta.ObjectMetaArgs(name=binding, labels=plan.labels),
                role_ref=rbac.RoleRefArgs(api_group=_RBAC, kind="ClusterRole", name=bound_role),
                subjects=[
                    rbac.SubjectArgs(
                        kind="ServiceAccount", name=account.metadata.name, namespace=NAMESPACE
                    )
                ],
                opts=child,
            )
            for binding, bound_role in bindings.items()
        ]
        in_force = [account.metadata.name, *(binding.metadata.name for binding in bound)]
        self.name = pulumi.Output.all(*in_force).apply(lambda names: names[0])
        self.register_outputs({"name": self.name})
