"""The Neuron scheduler extension and the second scheduler that uses it.

Kubernetes only counts Neuron devices, but they are connected in a torus, so it matters which
devices a pod gets. The extension selects contiguous devices. The default scheduler of EKS cannot be
configured, so a second scheduler, `my-scheduler`, runs in the cluster: pods with this
`schedulerName` get contiguous devices, and all other pods use the default scheduler. Pods that use
whole nodes need neither.

Source: https://github.com/aws-neuron/neuron-helm-charts, `custom-scheduler.yaml` and
`scheduler-extn.yaml` of the version that `trainyard.components.catalog.neuron` pins, rendered with
`scheduler.enabled=true`. Differences: the scheduler has the Kubernetes version of the cluster, and
both prefer nodes without Neuron devices, because nodes with devices are less permanent. The
scheduler has a filter of system calls and no capabilities, as kubeadm runs the same program:
https://github.com/kubernetes/kubernetes/pull/100234 (filter), and `runKubeSchedulerAsNonRoot` in
`cmd/kubeadm/app/util/staticpod/utils_linux.go` at 04791b4 (capabilities). Its port and the files
that it reads, which all users may read, need none if it runs as root.
"""

from __future__ import annotations

import yaml

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.catalog.neuron import (
    NEURON_CHART_VERSION,
    NEURON_CORE,
    NEURON_DEVICE,
    NEURON_PLUGIN_INSTANCE_TYPES,
    NEURON_SCHEDULER_IMAGE,
    NEURON_SCHEDULER_NAME,
)
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon, has_accelerators
from trainyard.components.eks.addons.node_selection import INSTANCE_TYPE_LABEL
from trainyard.components.runtime.workload_plan import (
    NAMESPACE,
    SKIP_AWAIT,
    UNPRIVILEGED,
    Manifest,
    Rule,
    ServiceAccountPlan,
    WorkloadPlan,
    deployment,
    metadata,
)

EXTENSION = "k8s-neuron-scheduler"
EXTENSION_PORT = 12345
CONFIG_FILE = "my-scheduler-config.yaml"
CONFIG_DIRECTORY = f"/etc/kubernetes/{NEURON_SCHEDULER_NAME}"
EXTENSION_RULES: tuple[Rule, ...] = (
    ("", ["nodes"], ["get", "list", "watch"]),
    ("", ["nodes/status"], ["get", "patch", "update", "list", "watch"]),
    ("", ["events"], ["create", "patch"]),
    ("", ["pods"], ["get", "patch", "update", "list", "watch"]),
    ("", ["bindings", "pods/binding"], ["create"]),
)
SCHEDULER_RULES: tuple[Rule, ...] = (
    ("", ["configmaps"], ["get", "list", "watch"]),
    ("coordination.k8s.io", ["leases"], ["create", "get", "list", "update"]),
)
SCHEDULER_ROLES = {
    f"{NEURON_SCHEDULER_NAME}-as-kube-scheduler": "system:kube-scheduler",
    f"{NEURON_SCHEDULER_NAME}-as-volume-scheduler": "system:volume-scheduler",
}
"""Predefined cluster roles for schedulers, by the name of their binding."""


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


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the Deployments `my-scheduler` and `k8s-neuron-scheduler` in `kube-system`.

    The extension comes second, because the scheduler places its pod.
    """
    return [
        _scheduler(EKS_VERSIONS[target.kubernetes_version].kube_scheduler_image),
        _extension(),
    ]


def _scheduler(image: str) -> WorkloadPlan:
    name, config = NEURON_SCHEDULER_NAME, f"{NEURON_SCHEDULER_NAME}-config"
    pod = {
        "affinity": _rather_elsewhere(),
        "containers": [_scheduler_container(image)],
        "volumes": [{"name": "config-volume", "configMap": {"name": config}}],
    }
    return WorkloadPlan(
        controller=deployment(
            name, pod, selector=_selector(name), calls_api=True, labels=_labels(name)
        ),
        account=ServiceAccountPlan(
            name=name, rules=SCHEDULER_RULES, labels=_labels(name), further_roles=SCHEDULER_ROLES
        ),
        config_map={
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata(config, _labels(name)),
            "data": {CONFIG_FILE: scheduler_config()},
        },
    )


def _scheduler_container(image: str) -> Manifest:
    healthy = {"path": "/healthz", "port": 10259, "scheme": "HTTPS"}
    return {
        "name": "kube-second-scheduler",
        "image": image,
        "command": ["/usr/local/bin/kube-scheduler"],
        "args": [f"--config={CONFIG_DIRECTORY}/{CONFIG_FILE}", "--leader-elect=true", "--v=2"],
        "livenessProbe": {"httpGet": healthy, "initialDelaySeconds": 15},
        "readinessProbe": {"httpGet": healthy},
        "resources": {"requests": {"cpu": "100m"}},
        "securityContext": {**UNPRIVILEGED, "privileged": False},
        "volumeMounts": [{"name": "config-volume", "mountPath": CONFIG_DIRECTORY}],
    }


def _extension() -> WorkloadPlan:
    selector, labels = _selector(EXTENSION), _labels(EXTENSION)
    pod = {
        "affinity": _rather_elsewhere(),
        "priorityClassName": "system-node-critical",
        "schedulerName": NEURON_SCHEDULER_NAME,
        "containers": [
            {
                "name": "neuron-scheduler-exp",
                "image": by_content(NEURON_SCHEDULER_IMAGE),
                "env": [{"name": "PORT", "value": str(EXTENSION_PORT)}],
            }
        ],
    }
    port = {"name": "http", "port": EXTENSION_PORT, "targetPort": EXTENSION_PORT}
    return WorkloadPlan(
        suffix="-extension",
        controller=deployment(
            EXTENSION,
            pod,
            selector=selector,
            calls_api=True,
            # As for the Neuron device plugin.
            seccomp=False,
            labels=labels,
            # Two concurrent extensions would not see each other's allocations.
            strategy="Recreate",
        ),
        account=ServiceAccountPlan(name=EXTENSION, rules=EXTENSION_RULES, labels=labels),
        service={
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata(EXTENSION, labels, {SKIP_AWAIT: "true"}),
            "spec": {"ports": [port], "selector": selector},
        },
    )


def _rather_elsewhere() -> Manifest:
    with_devices = {
        "key": INSTANCE_TYPE_LABEL,
        "operator": "NotIn",
        "values": sorted(NEURON_PLUGIN_INSTANCE_TYPES),
    }
    preferred = {"weight": 100, "preference": {"matchExpressions": [with_devices]}}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}


def _selector(name: str) -> dict[str, str]:
    return {"app.kubernetes.io/name": name}


def _labels(name: str) -> dict[str, str]:
    return {
        **_selector(name),
        "helm.sh/chart": f"neuron-helm-chart-{NEURON_CHART_VERSION}",
        "app.kubernetes.io/version": NEURON_CHART_VERSION,
        "app.kubernetes.io/managed-by": "pulumi",
    }


NEURON_SCHEDULER = SelfManagedAddon(
    name="neuron-scheduler",
    component="NeuronScheduler",
    parent="plugins",
    serves=has_accelerators("neuron"),
    enabled=lambda config: config.architecture.addons.neuron_scheduler,
    option="architecture.addons.neuron_scheduler",
    workloads=workloads,
    on_system_nodes=True,
)
