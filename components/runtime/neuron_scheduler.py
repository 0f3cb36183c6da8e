"""The Neuron scheduler extension and the second scheduler that uses it.

Kubernetes only counts Neuron devices, but they are connected in a torus, so it matters which
devices a pod gets. The extension selects contiguous devices. The default scheduler of EKS cannot be
configured, so a second scheduler, `my-scheduler`, runs in the cluster: pods with this
`schedulerName` get contiguous devices, and all other pods use the default scheduler. Pods that use
whole nodes need neither.

Source: https://github.com/aws-neuron/neuron-helm-charts, `custom-scheduler.yaml` and
`scheduler-extn.yaml` of the version that `components.catalog.neuron` pins, rendered with
`scheduler.enabled=true`. Differences: the scheduler has the Kubernetes version of the cluster, and
both prefer nodes without Neuron devices, because nodes with devices are less permanent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
import yaml
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta
from pulumi_kubernetes.rbac import v1 as rbac

from components.catalog.neuron import (
    NEURON_CHART_VERSION,
    NEURON_CORE,
    NEURON_DEVICE,
    NEURON_PLUGIN_INSTANCE_TYPES,
    NEURON_SCHEDULER_NAME,
)
from components.runtime.node_selection import INSTANCE_TYPE_LABEL
from components.runtime.service_account import (
    NAMESPACE,
    ServiceAccountWithRoles,
    ServiceAccountWithRolesArgs,
)

EXTENSION = "k8s-neuron-scheduler"
EXTENSION_PORT = 12345
CONFIG_FILE = "my-scheduler-config.yaml"
CONFIG_DIRECTORY = f"/etc/kubernetes/{NEURON_SCHEDULER_NAME}"
EXTENSION_RULES = [
    rbac.PolicyRuleArgs(api_groups=[""], resources=["nodes"], verbs=["get", "list", "watch"]),
    rbac.PolicyRuleArgs(
        api_groups=[""],
        resources=["nodes/status"],
        verbs=["get", "patch", "update", "list", "watch"],
    ),
    rbac.PolicyRuleArgs(api_groups=[""], resources=["events"], verbs=["create", "patch"]),
    rbac.PolicyRuleArgs(
        api_groups=[""], resources=["pods"], verbs=["get", "patch", "update", "list", "watch"]
    ),
    rbac.PolicyRuleArgs(api_groups=[""], resources=["bindings", "pods/binding"], verbs=["create"]),
]
SCHEDULER_RULES = [
    rbac.PolicyRuleArgs(api_groups=[""], resources=["configmaps"], verbs=["get", "list", "watch"]),
    rbac.PolicyRuleArgs(
        api_groups=["coordination.k8s.io"],
        resources=["leases"],
        verbs=["create", "get", "list", "update"],
    ),
]
SCHEDULER_ROLES = {
    f"{NEURON_SCHEDULER_NAME}-as-kube-scheduler": "system:kube-scheduler",
    f"{NEURON_SCHEDULER_NAME}-as-volume-scheduler": "system:volume-scheduler",
}
"""Predefined cluster roles for schedulers, by the name of their binding."""
SKIP_AWAIT = "pulumi.com/skipAwait"
"""Pulumi waits until a Service has a ready pod; here the pod is created later.
https://www.pulumi.com/registry/packages/kubernetes/installation-configuration/#pulumicomskipawait"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeuronSchedulerArgs:
    """Arguments of `NeuronScheduler`."""

    provider: kubernetes.Provider
    extension_image: str
    scheduler_image: str
    """kube-scheduler with the cluster's minor version."""
    install_after: Sequence[pulumi.Resource]
    """Nodes that both can run on."""


def scheduler_config() -> str:
    """Return the configuration of the second scheduler: its name and its extender."""
    resources = [NEURON_DEVICE, NEURON_CORE, "aws.amazon.com/neurondevice"]
    return yaml.safe_dump(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": NEURON_SCHEDULER_NAME}],
            "extenders": [
                {
                    "urlPrefix": (
                        f"http://{EXTENSION}.{NAMESPACE}.svc.cluster.local:{EXTENSION_PORT}"
                    ),
                    "filterVerb": "filter",
                    "bindVerb": "bind",
                    "enableHTTPS": False,
                    "nodeCacheCapable": True,
                    "managedResources": [
                        {"name": resource, "ignoredByScheduler": False} for resource in resources
                    ],
                    "ignorable": False,
                }
            ],
            "leaderElection": {
                "leaderElect": True,
                "resourceNamespace": NAMESPACE,
                "resourceName": NEURON_SCHEDULER_NAME,
            },
        },
        sort_keys=False,
    )


class NeuronScheduler(pulumi.ComponentResource):
    """The Deployments `my-scheduler` and `k8s-neuron-scheduler` in `kube-system`.

    Children: `<name>-account` and `<name>-extension-account` (`ServiceAccountWithRoles`),
    `<name>-config` (`core.v1.ConfigMap`), `<name>-deployment` and `<name>-extension-deployment`
    (`apps.v1.Deployment`), `<name>-extension-service` (`core.v1.Service`).
    """

    def __init__(
        self,
        name: str,
        args: NeuronSchedulerArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:runtime:NeuronScheduler", name, {}, opts)
        self._args = args
        self._child = pulumi.ResourceOptions(parent=self, provider=args.provider)
        scheduler = self._deploy_scheduler(name)
        self._deploy_extension(f"{name}-extension", scheduler)
        self.register_outputs({})

    def _deploy_scheduler(self, name: str) -> apps.Deployment:
        account = self._account(
            name, NEURON_SCHEDULER_NAME, rules=SCHEDULER_RULES, roles=SCHEDULER_ROLES
        )
        config = core.ConfigMap(
            f"{name}-config",
            metadata=_metadata(f"{NEURON_SCHEDULER_NAME}-config", NEURON_SCHEDULER_NAME),
            data={CONFIG_FILE: scheduler_config()},
            opts=self._child,
        )
        pod = core.PodSpecArgs(
            service_account_name=account.name,
            affinity=_rather_elsewhere(),
            containers=[_scheduler_container(self._args.scheduler_image)],
            volumes=[
                core.VolumeArgs(
                    name="config-volume",
                    config_map=core.ConfigMapVolumeSourceArgs(name=config.metadata.name),
                )
            ],
        )
        return self._deploy(name, NEURON_SCHEDULER_NAME, pod, after=self._args.install_after)

    def _deploy_extension(self, name: str, scheduler: apps.Deployment) -> None:
        account = self._account(name, EXTENSION, rules=EXTENSION_RULES)
        core.Service(
            f"{name}-service",
            metadata=_metadata(EXTENSION, EXTENSION, {SKIP_AWAIT: "true"}),
            spec=core.ServiceSpecArgs(
                ports=[
                    core.ServicePortArgs(
                        name="http", port=EXTENSION_PORT, target_port=EXTENSION_PORT
                    )
                ],
                selector=_selector(EXTENSION),
            ),
            opts=self._child,
        )
        pod = core.PodSpecArgs(
            service_account_name=account.name,
            affinity=_rather_elsewhere(),
            priority_class_name="system-node-critical",
            scheduler_name=NEURON_SCHEDULER_NAME,
            containers=[
                core.ContainerArgs(
                    name="neuron-scheduler-exp",
                    image=self._args.extension_image,
                    env=[core.EnvVarArgs(name="PORT", value=str(EXTENSION_PORT))],
                )
            ],
        )
        # `Recreate`, because two concurrent extensions would not see each other's allocations.
        self._deploy(name, EXTENSION, pod, after=[scheduler], strategy="Recreate")

    def _account(
        self,
        name: str,
        account: str,
        *,
        rules: Sequence[rbac.PolicyRuleArgs],
        roles: Mapping[str, str] | None = None,
    ) -> ServiceAccountWithRoles:
        return ServiceAccountWithRoles(
            f"{name}-account",
            ServiceAccountWithRolesArgs(
                provider=self._args.provider,
                name=account,
                rules=rules,
                labels=_labels(account),
                further_roles=roles,
            ),
            pulumi.ResourceOptions(parent=self),
        )

    def _deploy(
        self,
        name: str,
        deployment: str,
        pod: core.PodSpecArgs,
        *,
        after: Sequence[pulumi.Resource],
        strategy: str | None = None,
    ) -> apps.Deployment:
        return apps.Deployment(
            f"{name}-deployment",
            metadata=_metadata(deployment, deployment),
            spec=apps.DeploymentSpecArgs(
                replicas=1,
                strategy=apps.DeploymentStrategyArgs(type=strategy) if strategy else None,
                selector=meta.LabelSelectorArgs(match_labels=_selector(deployment)),
                template=core.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=_selector(deployment)), spec=pod
                ),
            ),
            opts=pulumi.ResourceOptions.merge(
                self._child, pulumi.ResourceOptions(depends_on=[*after])
            ),
        )


def _scheduler_container(image: str) -> core.ContainerArgs:
    healthy = core.HTTPGetActionArgs(path="/healthz", port=10259, scheme="HTTPS")
    return core.ContainerArgs(
        name="kube-second-scheduler",
        image=image,
        command=["/usr/local/bin/kube-scheduler"],
        args=[f"--config={CONFIG_DIRECTORY}/{CONFIG_FILE}", "--leader-elect=true", "--v=2"],
        liveness_probe=core.ProbeArgs(http_get=healthy, initial_delay_seconds=15),
        readiness_probe=core.ProbeArgs(http_get=healthy),
        resources=core.ResourceRequirementsArgs(requests={"cpu": "100m"}),
        security_context=core.SecurityContextArgs(privileged=False),
        volume_mounts=[core.VolumeMountArgs(name="config-volume", mount_path=CONFIG_DIRECTORY)],
    )


def _rather_elsewhere() -> core.AffinityArgs:
    with_devices = core.NodeSelectorRequirementArgs(
        key=INSTANCE_TYPE_LABEL, operator="NotIn", values=sorted(NEURON_PLUGIN_INSTANCE_TYPES)
    )
    return core.AffinityArgs(
        node_affinity=core.NodeAffinityArgs(
            preferred_during_scheduling_ignored_during_execution=[
                core.PreferredSchedulingTermArgs(
                    weight=100,
                    preference=core.NodeSelectorTermArgs(match_expressions=[with_devices]),
                )
            ]
        )
    )


def _selector(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name}


def _labels(name: str) -> dict[str, str]:
    return {
        **_selector(name),
        "helm.sh/chart": f"neuron-helm-chart-{NEURON_CHART_VERSION}",
        "app.kubernetes.io/version": NEURON_CHART_VERSION,
        "app.kubernetes.io/managed-by": "pulumi",
    }


def _metadata(
    name: str, labelled: str, annotations: Mapping[str, str] | None = None
) -> meta.ObjectMetaArgs:
    return meta.ObjectMetaArgs(
        name=name, namespace=NAMESPACE, labels=_labels(labelled), annotations=annotations
    )
