"""Kueue, which queues jobs and starts each one when the nodes for all of its pods are free.

Source: https://github.com/kubernetes-sigs/kueue, the manifests of the pinned release in
`components/catalog/data/kueue.json`, with a configuration and a queue for the nodes of the stack.
`docs/decisions/0014-kueue-from-its-manifests.md` says why not its chart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import yaml

from trainyard.components.capacity.schedule import most_at_once
from trainyard.components.catalog.kueue import (
    CONFIG_FILE,
    JOBSET_GROUP,
    KUEUE_API,
    KUEUE_GROUP,
    KUEUE_RELEASE,
    QUEUE,
    QUEUE_NAMESPACE,
    released_objects,
)
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.eks.addons.jobset import JOBSET
from trainyard.components.eks.addons.node_selection import tolerations
from trainyard.components.eks.addons.released_controller import released_controller
from trainyard.components.eks.node_group_plan import NEURON_CORE, NodeGroupPlan, node_devices
from trainyard.components.runtime.workload_plan import Manifest, WorkloadPlan

IMAGE = "registry.k8s.io/kueue/kueue:v0.19.2"
PODS_READY_TIMEOUT = "20m"
"""Time in which all pods of a started job must be ready. Nodes with accelerators take several
minutes to start, and their images several minutes to pull."""

LONGEST_PAUSE_SECONDS = 300
"""Pause of a job that did not get all of its pods ready, before it is started again."""


def configuration(*, has_jobsets: bool) -> str:
    """Return the configuration of the controller, which also queues JobSets if there are any.

    As released, except for `waitForPodsReady` and the integrations. A job whose pods do not all
    become ready gives its nodes back, and meanwhile no other job starts, so that two jobs cannot
    hold a part of the nodes each and wait for the rest:
    https://kueue.sigs.k8s.io/docs/tasks/manage/setup_wait_for_pods_ready/. A pod that is replaced
    later has no time limit: `run --restarts` and `minimum_nodes` decide how a job goes on.
    """
    frameworks = ["batch/job", *([f"{JOBSET_GROUP}/jobset"] if has_jobsets else [])]
    return yaml.safe_dump(
        {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "health": {"healthProbeBindAddress": ":8081"},
            "metrics": {"bindAddress": ":8443"},
            "webhook": {"port": 9443},
            "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
            "controller": {
                "groupKindConcurrency": {
                    "Job.batch": 5,
                    "Workload.kueue.x-k8s.io": 10,
                    "LocalQueue.kueue.x-k8s.io": 5,
                    "ClusterQueue.kueue.x-k8s.io": 5,
                    "ResourceFlavor.kueue.x-k8s.io": 1,
                }
            },
            "clientConnection": {"qps": 300, "burst": 500},
            "waitForPodsReady": {
                "timeout": PODS_READY_TIMEOUT,
                "recoveryTimeout": "0s",
                "blockAdmission": True,
                # A job may be in the queue before a Capacity Block starts. By default, it would
                # pause for up to an hour, also when the nodes are there.
                "requeuingStrategy": {"backoffMaxSeconds": LONGEST_PAUSE_SECONDS},
            },
            "integrations": {"frameworks": frameworks},
            # Huge pages and local storage come with the node.
            "resources": {"quotaCheckStrategy": "IgnoreUndeclared"},
            "featureGates": {"VisibilityOnDemand": False},
        },
        sort_keys=False,
    )


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the Deployment `kueue-system/kueue-controller-manager`, its objects and the queue."""
    queued, has_jobsets = target.accelerated_groups, JOBSET.name in target.plugins
    released = [
        _with_hooks(each, has_jobsets=has_jobsets) for each in released_objects(KUEUE_RELEASE)
    ]
    return [
        released_controller(
            KUEUE_RELEASE,
            [*released, _config_map(configuration(has_jobsets=has_jobsets))],
            image=IMAGE,
            kept_off=[each.instance_type.name for each in queued],
            objects_after=[*_queue(queued, target.plugins)],
        )
    ]


def _with_hooks(manifest: Manifest, *, has_jobsets: bool) -> Manifest:
    """Return an object; without JobSets, the controller does not serve the webhooks for them."""
    if has_jobsets or "webhooks" not in manifest:
        return manifest
    hooks = [e for e in manifest["webhooks"] if e["rules"][0]["apiGroups"] != [JOBSET_GROUP]]
    return {**manifest, "webhooks": hooks}


def _config_map(content: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": KUEUE_RELEASE.config_map, "namespace": KUEUE_RELEASE.namespace},
        "data": {CONFIG_FILE: content},
    }


def _queue(groups: Sequence[NodeGroupPlan], plugins: Collection[str]) -> Iterator[Manifest]:
    """Yield a flavor for each node group of the stack file, and the queue with their quotas.

    The nodes of all Capacity Blocks of a group are one flavor.

    https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#resource-groups: all flavors of a
    resource group have the same resources.
    """
    pools: dict[str, list[NodeGroupPlan]] = {}
    for group in groups:
        pools.setdefault(group.pool, []).append(group)
    quotas = {flavor_name(blocks[0]): quota(blocks, plugins) for blocks in pools.values()}
    resources = list(dict.fromkeys(name for each in quotas.values() for name in each))
    for group, *_ in pools.values():
        yield _object(
            "ResourceFlavor",
            {"name": flavor_name(group)},
            {"nodeLabels": group.node_selector, "tolerations": tolerations([], group.taints)},
        )
    flavors = [
        {
            "name": flavor,
            "resources": [
                {"name": name, "nominalQuota": offered.get(name, "0")} for name in resources
            ],
        }
        for flavor, offered in quotas.items()
    ]
    covered = [{"coveredResources": resources, "flavors": flavors}]
    spec = {"namespaceSelector": {}, "resourceGroups": covered}
    yield _object("ClusterQueue", {"name": QUEUE}, spec)
    yield _object(
        "LocalQueue", {"name": QUEUE, "namespace": QUEUE_NAMESPACE}, {"clusterQueue": QUEUE}
    )


def _object(kind: str, metadata: Mapping[str, str], spec: Manifest) -> Manifest:
    return {
        "apiVersion": f"{KUEUE_GROUP}/{KUEUE_API}",
        "kind": kind,
        "metadata": metadata,
        "spec": spec,
    }


def flavor_name(group: NodeGroupPlan) -> str:
    """Return the name of the flavor of a node group, which Kubernetes wants in small letters."""
    return group.pool.lower().replace("_", "-")


def quota(blocks: Sequence[NodeGroupPlan], plugins: Collection[str]) -> dict[str, str]:
    """Return what the planned nodes of a group offer, in Kubernetes' canonical form.

    With several Capacity Blocks, these are the most nodes that exist at the same time.

    CPUs and memory are those of the instance type: a pod asks for less, because kubelet and
    DaemonSets need a part. Cores of Neuron devices are left out: Kubernetes offers the same
    hardware as devices and as cores, and jobs ask for devices.
    """
    group = blocks[0]
    nodes = most_at_once([(each.schedule, each.nodes) for each in blocks])
    devices = node_devices(group, plugins)
    return {
        "cpu": _canonical(nodes * group.instance_type.vcpus, 1000, ("", "k", "M")),
        "memory": _canonical(
            nodes * group.instance_type.memory_mib, 1024, ("Mi", "Gi", "Ti", "Pi")
        ),
        **{
            name: _canonical(nodes * count, 1000, ("", "k", "M"))
            for name, count in devices.items()
            if name != NEURON_CORE
        },
    }


def _canonical(amount: int, base: int, units: Sequence[str]) -> str:
    """Return a quantity as Kueue's webhook writes it, so that an update finds no difference.

    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    power = 0
    while amount and amount % base == 0 and power + 1 < len(units):
        amount, power = amount // base, power + 1
    return f"{amount}{units[power]}" if amount else "0"


KUEUE = SelfManagedAddon(
    name="kueue",
    component="Kueue",
    # Its image is pulled on the system nodes, and its queue is for all others.
    serves=lambda _: True,
    enabled=lambda config: config.architecture.addons.kueue,
    option="architecture.addons.kueue",
    workloads=workloads,
    on_system_nodes=True,
    public_image="Kueue",
)
