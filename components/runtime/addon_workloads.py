"""The workloads of a self-managed add-on, with their service account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from trainyard.components.kubernetes_object import KubernetesObject
from trainyard.components.runtime.workload_plan import (
    NAMESPACE,
    Manifest,
    ServiceAccountPlan,
    WorkloadPlan,
    metadata,
)

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


_SUFFIXES = {"DaemonSet": "daemon-set", "Deployment": "deployment"}
"""Suffixes of the logical names of controllers, by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonWorkloadsArgs:
    """Arguments of `AddonWorkloads`."""

    component: str
    """Last part of the type token, such as `NvidiaDevicePlugin`."""
    provider: kubernetes.Provider
    workloads: Sequence[WorkloadPlan]
    """Each is installed after the one before it."""
    install_after: Sequence[pulumi.Resource]
    """Node groups whose nodes are expected now. Without nodes, a DaemonSet counts as rolled out
    immediately, so a Capacity Block that has not started does not block."""


class AddonWorkloads(pulumi.ComponentResource):
    """The workloads of one add-on, under a type token of the add-on itself.

    Children, for each workload: `<name><suffix>-account` (`ServiceAccountWithRoles`; the add-on can
    have another name for it), `<name><suffix>-config` (`core.v1.ConfigMap`),
    `<name><suffix>-service` (`core.v1.Service`), `<name><suffix>-daemon-set`
    (`apps.v1.DaemonSet`) or `<name><suffix>-deployment` (`apps.v1.Deployment`), and
    `<name><suffix>-<kind>-<object>` for each further object.
    """

    def __init__(
        self,
        name: str,
        args: AddonWorkloadsArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(f"trainyard:runtime:{args.component}", name, {}, opts)
        self._cluster = args.provider
        after = args.install_after
        for workload in args.workloads:
            after = [self._install(f"{name}{workload.suffix}", workload, after)]
        self.register_outputs({})

    def _install(
        self, name: str, workload: WorkloadPlan, after: Sequence[pulumi.Resource]
    ) -> pulumi.Resource:
        child = pulumi.ResourceOptions(parent=self, provider=self._cluster)
        controller = self._with_account(name, workload)
        needed = [*after]
        if workload.config_map:
            needed.append(KubernetesObject(f"{name}-config", workload.config_map, child))
        if workload.service:
            KubernetesObject(f"{name}-service", workload.service, child)
        needed += self._declare(name, workload.objects_before, ())
        made = KubernetesObject(
            f"{name}-{_SUFFIXES[controller['kind']]}",
            controller,
            pulumi.ResourceOptions(parent=self, provider=self._cluster, depends_on=needed),
        )
        self._declare(name, workload.objects_after, (made,))
        return made

    def _declare(
        self, name: str, manifests: Sequence[Manifest], after: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        """Declare objects of any kind; their namespace, if they bring it, comes first."""
        made: list[pulumi.Resource] = []
        spaces: list[pulumi.Resource] = []
        for manifest in manifests:
            opts = pulumi.ResourceOptions(
                parent=self,
                provider=self._cluster,
                depends_on=[*after, *spaces],
                # An object with a finalizer is deleted by its controller. When the whole cluster is
                # deleted, a job that still runs would delay that.
                deleted_with=self._cluster,
            )
            kind, object_name = manifest["kind"], manifest["metadata"]["name"]
            made.append(KubernetesObject(f"{name}-{kind.lower()}-{object_name}", manifest, opts))
            if kind == "Namespace":
                spaces.append(made[-1])
        return made

    def _with_account(self, name: str, workload: WorkloadPlan) -> Manifest:
        """Make the service account, and return the controller whose pods use it."""
        if workload.account is None:
            return workload.controller
        account = ServiceAccountWithRoles(
            f"{name}-{workload.account.logical_name}",
            ServiceAccountWithRolesArgs(provider=self._cluster, account=workload.account),
            pulumi.ResourceOptions(parent=self),
        )
        spec = workload.controller["spec"]
        pod = {**spec["template"]["spec"], "serviceAccountName": account.name}
        template = {**spec["template"], "spec": pod}
        return {**workload.controller, "spec": {**spec, "template": template}}
