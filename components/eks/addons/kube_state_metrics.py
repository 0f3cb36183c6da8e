"""kube-state-metrics: conditions of nodes, and states of pods, jobs and other objects.

Source: https://github.com/kubernetes/kube-state-metrics, `examples/standard` of the pinned release,
without its Service. Unlike there, it reads only the kinds that `RESOURCES` names, and no secrets
(`docs/developer/cli-arguments.md`, `--resources`). It asks for what `README.md` recommends
("Resource recommendation"), which also warns of limits of CPU.
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.addon import AddonTarget
from trainyard.components.eks.addons.exporter import (
    EXPORTER,
    exporter,
    exporter_port,
    exporter_selector,
)
from trainyard.components.eks.addons.node_selection import away_from
from trainyard.components.runtime.workload_plan import (
    UNPRIVILEGED,
    Manifest,
    Rule,
    ServiceAccountPlan,
    WorkloadPlan,
    deployment,
)

IMAGE = "registry.k8s.io/kube-state-metrics/kube-state-metrics:v2.20.0"
NAME = "kube-state-metrics"
PORT = 8080
TELEMETRY_PORT = 8081
NOBODY = 65534
RESOURCES = {
    "": ("namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods"),
    "apps": ("daemonsets", "deployments", "statefulsets"),
    "batch": ("jobs",),
}
"""Kinds of objects with metrics, by API group."""
RULES: tuple[Rule, ...] = tuple(
    (group, resources, ["list", "watch"]) for group, resources in RESOURCES.items()
)


def _workload(target: AddonTarget) -> WorkloadPlan:
    selector = {**exporter_selector(NAME), **EXPORTER}
    made = deployment(NAME, _pod(target), selector=selector, calls_api=True, labels=EXPORTER)
    account = ServiceAccountPlan(name=NAME, rules=RULES, labels=EXPORTER)
    return WorkloadPlan(controller=made, account=account)


def _pod(target: AddonTarget) -> Manifest:
    work = [g.instance_type.name for g in target.groups if g.instance_type.accelerators]
    kinds = sorted(name for resources in RESOURCES.values() for name in resources)

    def probe(path: str, port: int) -> Manifest:
        return {
            "httpGet": {"path": path, "port": port},
            "initialDelaySeconds": 5,
            "timeoutSeconds": 5,
        }

    return {
        "containers": [
            {
                "name": NAME,
                "image": by_content(IMAGE),
                "args": [f"--resources={','.join(kinds)}"],
                "ports": [
                    exporter_port(PORT),
                    {"name": "telemetry", "containerPort": TELEMETRY_PORT},
                ],
                "livenessProbe": probe("/livez", PORT),
                "readinessProbe": probe("/readyz", TELEMETRY_PORT),
                "resources": {"requests": {"cpu": "100m", "memory": "250Mi"}},
                "securityContext": {
                    **UNPRIVILEGED,
                    "readOnlyRootFilesystem": True,
                    "runAsNonRoot": True,
                    "runAsUser": NOBODY,
                },
            }
        ],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        # Nodes with accelerators are drained and replaced.
        **({"affinity": away_from(work)} if work else {}),
    }


KUBE_STATE_METRICS = exporter(
    NAME, "KubeStateMetrics", _workload, public_image="kube-state-metrics"
)
"""The Deployment `kube-system/kube-state-metrics`, on the system nodes."""
