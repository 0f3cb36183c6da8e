"""An exporter of Prometheus as a self-managed add-on.

The AWS managed collector finds the pods of an exporter by a label and a port name
(`trainyard.components.eks.scraper_plan`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from trainyard.components.config.eks import EksStackConfig
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.eks.addons.node_selection import instance_type_affinity, tolerations
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.runtime.workload_plan import Manifest, WorkloadPlan, daemon_set

EXPORTER = {"app.kubernetes.io/component": "exporter"}
"""Label of pods that the collector reads."""
EXPORTER_PORT = "metrics"
"""Name of the port that it reads."""


def exporter(
    name: str,
    component: str,
    workload: Callable[[AddonTarget], WorkloadPlan],
    *,
    public_image: str,
    serves: Callable[[NodeGroupPlan], bool] = lambda _: True,
    daemon_set_name: str | None = None,
) -> SelfManagedAddon:
    """Return an add-on of stacks that send metrics to Prometheus.

    Args:
        name: Its name in the plan and in logical names, which cannot change.
        component: Last part of its type token, which cannot change.
        workload: Its objects.
        public_image: Name of the software, for messages.
        serves: Whether a node group needs it.
        daemon_set_name: Its DaemonSet; None if it runs on the system nodes only.
    """
    return SelfManagedAddon(
        name=name,
        component=component,
        serves=serves,
        enabled=_sends_to_prometheus,
        workloads=lambda target: [workload(target)],
        on_system_nodes=daemon_set_name is None,
        public_image=public_image,
        daemon_set=daemon_set_name,
    )


def device_exporter(
    name: str,
    component: str,
    *,
    public_image: str,
    serves: Callable[[NodeGroupPlan], bool],
    toleration: Manifest,
    container: Manifest,
    port: int,
    seccomp: bool = True,
    sidecars: Sequence[Manifest] = (),
    rolling_update: Manifest | None = None,
    pod_fields: Manifest | None = None,
) -> SelfManagedAddon:
    """Return an exporter of devices, with a DaemonSet of its name on the nodes that have them.

    Args:
        name: Name of the add-on and of its DaemonSet, which cannot change.
        component: Last part of its type token, which cannot change.
        public_image: Name of the software, for messages.
        serves: Whether the nodes of a group have such devices.
        toleration: Of the taint that nodes with these devices often have.
        container: The container, without its port.
        port: Port with the metrics.
        seccomp: Whether the system calls of its pods are filtered.
        sidecars: Further containers of the pod.
        rolling_update: How an update proceeds.
        pod_fields: Further fields of the pod.
    """

    def workload(target: AddonTarget) -> WorkloadPlan:
        made = {
            "affinity": instance_type_affinity(target.instance_types, target.other_types),
            "tolerations": tolerations([toleration], target.taints),
            "containers": [
                {"imagePullPolicy": "IfNotPresent", "ports": [exporter_port(port)], **container},
                *sidecars,
            ],
            **(pod_fields or {}),
        }
        return exporter_daemon_set(name, made, seccomp=seccomp, rolling_update=rolling_update)

    return exporter(
        name,
        component,
        workload,
        public_image=public_image,
        serves=serves,
        daemon_set_name=name,
    )


def exporter_daemon_set(
    name: str, pod: Manifest, *, seccomp: bool = True, rolling_update: Manifest | None = None
) -> WorkloadPlan:
    """Return the DaemonSet of an exporter, whose selector is immutable."""
    return WorkloadPlan(
        controller=daemon_set(
            name,
            pod,
            selector=exporter_selector(name),
            calls_api=False,
            seccomp=seccomp,
            labels=EXPORTER,
            pod_labels=EXPORTER,
            rolling_update=rolling_update,
        )
    )


def exporter_selector(name: str) -> Mapping[str, str]:
    """Return the label that selects the pods of an exporter, and that the collector reads."""
    return {"app.kubernetes.io/name": name}


def exporter_port(port: int) -> Manifest:
    """Return the port of a container that the collector reads."""
    return {"name": EXPORTER_PORT, "containerPort": port}


def _sends_to_prometheus(config: EksStackConfig) -> bool:
    return config.node_metrics == "prometheus"
