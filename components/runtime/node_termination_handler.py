"""The node termination handler, which drains nodes before EC2 terminates them.

Source: https://github.com/aws/aws-node-termination-handler, the chart
`config/helm/aws-node-termination-handler` in the version that `components.catalog.versions` pins,
rendered with its default values for the metadata mode (one pod per node, no AWS permissions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta
from pulumi_kubernetes.rbac import v1 as rbac

from components.catalog.versions import (
    NODE_TERMINATION_HANDLER_CHART_VERSION,
    NODE_TERMINATION_HANDLER_VERSION,
)
from components.runtime.node_selection import self_managed_affinity
from components.runtime.service_account import (
    NAMESPACE,
    ServiceAccountWithRoles,
    ServiceAccountWithRolesArgs,
)

CHART = "aws-node-termination-handler"
IMAGE = f"public.ecr.aws/aws-ec2/{CHART}:{NODE_TERMINATION_HANDLER_VERSION}"
POD_LABELS = {
    "app.kubernetes.io/name": CHART,
    "app.kubernetes.io/instance": CHART,
    "app.kubernetes.io/component": "daemonset",
    "kubernetes.io/os": "linux",
}
"""Selector of the DaemonSet; immutable."""
LABELS = {
    "app.kubernetes.io/name": CHART,
    "app.kubernetes.io/instance": CHART,
    "app.kubernetes.io/version": NODE_TERMINATION_HANDLER_VERSION.removeprefix("v"),
    "app.kubernetes.io/part-of": CHART,
    "app.kubernetes.io/managed-by": "pulumi",
    "helm.sh/chart": f"{CHART}-{NODE_TERMINATION_HANDLER_CHART_VERSION}",
}
SETTINGS = {
    "ENABLE_PROBES_SERVER": "false",
    "PROBES_SERVER_PORT": "8080",
    "PROBES_SERVER_ENDPOINT": "/healthz",
    "LOG_LEVEL": "info",
    "JSON_LOGGING": "false",
    "LOG_FORMAT_VERSION": "1",
    "ENABLE_PROMETHEUS_SERVER": "false",
    "PROMETHEUS_SERVER_PORT": "9092",
    "METADATA_TRIES": "3",
    "DRY_RUN": "false",
    "CORDON_ONLY": "false",
    "TAINT_NODE": "false",
    "ENABLE_OUT_OF_SERVICE_TAINT": "false",
    "EXCLUDE_FROM_LOAD_BALANCERS": "false",
    "DELETE_LOCAL_DATA": "true",
    "IGNORE_DAEMON_SETS": "true",
    "POD_TERMINATION_GRACE_PERIOD": "-1",
    "NODE_TERMINATION_GRACE_PERIOD": "120",
    "EMIT_KUBERNETES_EVENTS": "false",
    "ENABLE_SPOT_INTERRUPTION_DRAINING": "true",
    "ENABLE_ASG_LIFECYCLE_DRAINING": "true",
    "ENABLE_SCHEDULED_EVENT_DRAINING": "true",
    # Unlike the chart: a rebalance recommendation only cordons the node. Its pods keep running,
    # because the recommendation is an early signal and no replacement node is coming.
    "ENABLE_REBALANCE_MONITORING": "true",
    "ENABLE_REBALANCE_DRAINING": "false",
    "ENABLE_SQS_TERMINATION_DRAINING": "false",
    "UPTIME_FROM_FILE": "/proc/uptime",
}
"""Environment of the handler, in the chart's order."""
FIELDS = {
    "NODE_NAME": "spec.nodeName",
    "POD_NAME": "metadata.name",
    "NAMESPACE": "metadata.namespace",
}
"""Environment from the downward API."""
RULES = (
    ("", "nodes", ["get", "list", "patch", "update"]),
    ("", "pods", ["list", "get"]),
    ("", "pods/eviction", ["create"]),
    ("extensions", "daemonsets", ["get"]),
    ("apps", "daemonsets", ["get"]),
)
"""API group, resource and verbs that the handler needs to drain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerminationHandlerArgs:
    """Arguments of `NodeTerminationHandler`."""

    provider: kubernetes.Provider
    instance_types: Sequence[str]
    """EC2 instance types of the self-managed node groups."""
    install_after: Sequence[pulumi.Resource]
    """Node groups whose nodes are expected now."""


class NodeTerminationHandler(pulumi.ComponentResource):
    """The DaemonSet `kube-system/aws-node-termination-handler`, on self-managed nodes only.

    EKS drains the nodes of managed groups, and a second drain would race with it. As in the chart,
    the pods tolerate every taint.

    Children: `<name>-handler` (`ServiceAccountWithRoles`), `<name>-daemon-set`
    (`apps.v1.DaemonSet`).
    """

    def __init__(
        self,
        name: str,
        args: NodeTerminationHandlerArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:runtime:NodeTerminationHandler", name, {}, opts)
        account = ServiceAccountWithRoles(
            f"{name}-handler",
            ServiceAccountWithRolesArgs(
                provider=args.provider, name=CHART, rules=_rules(), labels=LABELS
            ),
            pulumi.ResourceOptions(parent=self),
        )
        apps.DaemonSet(
            f"{name}-daemon-set",
            metadata=meta.ObjectMetaArgs(
                name=CHART,
                namespace=NAMESPACE,
                labels={**LABELS, "app.kubernetes.io/component": "daemonset"},
            ),
            spec=apps.DaemonSetSpecArgs(
                selector=meta.LabelSelectorArgs(match_labels=POD_LABELS),
                update_strategy=apps.DaemonSetUpdateStrategyArgs(
                    type="RollingUpdate",
                    rolling_update=apps.RollingUpdateDaemonSetArgs(max_unavailable="25%"),
                ),
                template=core.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels={**POD_LABELS, "k8s-app": CHART}),
                    spec=_pod(args.instance_types, account.name),
                ),
            ),
            opts=pulumi.ResourceOptions(
                parent=self, provider=args.provider, depends_on=[*args.install_after]
            ),
        )
        self.register_outputs({})


def _rules() -> list[rbac.PolicyRuleArgs]:
    return [
        rbac.PolicyRuleArgs(api_groups=[group], resources=[resource], verbs=verbs)
        for group, resource, verbs in RULES
    ]


def _pod(instance_types: Sequence[str], account: pulumi.Input[str]) -> core.PodSpecArgs:
    return core.PodSpecArgs(
        service_account_name=account,
        security_context=core.PodSecurityContextArgs(fs_group=1000),
        priority_class_name="system-node-critical",
        # On the host network, a hop limit of 1 is enough for the metadata service.
        host_network=True,
        dns_policy="ClusterFirstWithHostNet",
        containers=[
            core.ContainerArgs(
                name=CHART,
                image=IMAGE,
                image_pull_policy="IfNotPresent",
                security_context=core.SecurityContextArgs(
                    read_only_root_filesystem=True,
                    run_as_non_root=True,
                    allow_privilege_escalation=False,
                    run_as_user=1000,
                    run_as_group=1000,
                ),
                env=_environment(),
                volume_mounts=[
                    core.VolumeMountArgs(name="uptime", mount_path="/proc/uptime", read_only=True)
                ],
            )
        ],
        volumes=[
            core.VolumeArgs(
                name="uptime", host_path=core.HostPathVolumeSourceArgs(path="/proc/uptime")
            )
        ],
        node_selector={"kubernetes.io/os": "linux"},
        affinity=self_managed_affinity(instance_types),
        tolerations=[core.TolerationArgs(operator="Exists")],
    )


def _environment() -> list[core.EnvVarArgs]:
    fields = [
        core.EnvVarArgs(
            name=name,
            value_from=core.EnvVarSourceArgs(
                field_ref=core.ObjectFieldSelectorArgs(field_path=path)
            ),
        )
        for name, path in FIELDS.items()
    ]
    return [*fields, *(core.EnvVarArgs(name=n, value=v) for n, v in SETTINGS.items())]
