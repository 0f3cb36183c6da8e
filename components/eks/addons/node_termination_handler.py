"""The node termination handler, which drains nodes before EC2 terminates them.

Source: https://github.com/aws/aws-node-termination-handler, the chart
`config/helm/aws-node-termination-handler` in the pinned version (`Chart.yaml` at 77ca841, which
released 1.25.6), rendered with its default values for the metadata mode (one pod per node, no AWS
permissions). `Dockerfile` there has one static binary of Go, which runs as another user than root:
it needs no capabilities, and no system calls but those of any program of Go in a container.
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.eks.addons.node_selection import self_managed_affinity
from trainyard.components.runtime.workload_plan import (
    UNPRIVILEGED,
    Manifest,
    Rule,
    ServiceAccountPlan,
    WorkloadPlan,
    daemon_set,
)

CHART = "public.ecr.aws/aws-ec2/helm/aws-node-termination-handler:0.27.6"
IMAGE = "public.ecr.aws/aws-ec2/aws-node-termination-handler:v1.25.6"
NAME = "aws-node-termination-handler"
POD_LABELS = {
    "app.kubernetes.io/name": NAME,
    "app.kubernetes.io/instance": NAME,
    "app.kubernetes.io/component": "daemonset",
    "kubernetes.io/os": "linux",
}
"""Selector of the DaemonSet; immutable."""
LABELS = {
    "app.kubernetes.io/name": NAME,
    "app.kubernetes.io/instance": NAME,
    "app.kubernetes.io/version": IMAGE.rpartition(":v")[2],
    "app.kubernetes.io/part-of": NAME,
    "app.kubernetes.io/managed-by": "pulumi",
    "helm.sh/chart": f"{NAME}-{CHART.rpartition(':')[2]}",
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
RULES: tuple[Rule, ...] = (
    ("", ["nodes"], ["get", "list", "patch", "update"]),
    ("", ["pods"], ["list", "get"]),
    ("", ["pods/eviction"], ["create"]),
    ("extensions", ["daemonsets"], ["get"]),
    ("apps", ["daemonsets"], ["get"]),
)
"""What the handler may do to drain a node."""


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/aws-node-termination-handler`, on self-managed nodes only.

    EKS drains the nodes of managed groups, and a second drain would race with it. As in the chart,
    the pods tolerate every taint.
    """
    made = daemon_set(
        NAME,
        _pod(target),
        selector=POD_LABELS,
        calls_api=True,
        labels={**LABELS, "app.kubernetes.io/component": "daemonset"},
        pod_labels={"k8s-app": NAME},
        rolling_update={"maxUnavailable": "25%"},
    )
    account = ServiceAccountPlan(name=NAME, rules=RULES, labels=LABELS, logical_name="handler")
    return [WorkloadPlan(controller=made, account=account)]


def _pod(target: AddonTarget) -> Manifest:
    return {
        "securityContext": {"fsGroup": 1000},
        "priorityClassName": "system-node-critical",
        # On the host network, a hop limit of 1 is enough for the metadata service.
        "hostNetwork": True,
        "dnsPolicy": "ClusterFirstWithHostNet",
        "containers": [
            {
                "name": NAME,
                "image": by_content(IMAGE),
                "imagePullPolicy": "IfNotPresent",
                "securityContext": {
                    **UNPRIVILEGED,
                    "readOnlyRootFilesystem": True,
                    "runAsNonRoot": True,
                    "runAsUser": 1000,
                    "runAsGroup": 1000,
                },
                "env": [
                    *(
                        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
                        for name, path in FIELDS.items()
                    ),
                    *({"name": name, "value": value} for name, value in SETTINGS.items()),
                ],
                "volumeMounts": [{"name": "uptime", "mountPath": "/proc/uptime", "readOnly": True}],
            }
        ],
        "volumes": [{"name": "uptime", "hostPath": {"path": "/proc/uptime"}}],
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "affinity": self_managed_affinity(target.instance_types),
        "tolerations": [{"operator": "Exists"}],
    }


NODE_TERMINATION_HANDLER = SelfManagedAddon(
    name="termination",
    component="NodeTerminationHandler",
    serves=lambda group: group.management == "self-managed",
    enabled=lambda config: config.architecture.addons.node_termination_handler,
    option="architecture.addons.node_termination_handler",
    workloads=workloads,
    public_image="node termination handler",
    daemon_set=NAME,
    drains=True,
)
