"""The nodes of a node group in the Kubernetes API, compared with the plan.

Source:
    https://kubernetes.io/docs/reference/node/node-status/ (conditions, allocatable, `nodeInfo`)
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html (labels)
    https://github.com/awslabs/amazon-eks-ami/releases: the release version of an AMI begins with
        the version of its kubelet
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from trainyard.components.catalog.efa import huge_pages_of_pod_mib
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS, device_plugins
from trainyard.components.eks.node_group_plan import BLOCK_LABEL, node_devices
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.nodes import JobNodes
from trainyard.verify.inventory import Inventory, judge_inventory

_HUGE_PAGES = "hugepages-2Mi"
_MIB = 2**20
_NODE_INFO = {
    "kernel": "kernelVersion",
    "OS image": "osImage",
    "kubelet": "kubeletVersion",
    "container runtime": "containerRuntimeVersion",
}
_AMI = "eks.amazonaws.com/nodegroup-image"
"""Label of nodes in managed node groups."""


def node_selector(nodes: JobNodes) -> str:
    """Return the label selector of the nodes that a job can run on."""
    labels = [f"{key}={value}" for key, value in nodes.group.node_selector.items()]
    # As in `placement`: not the nodes of further blocks.
    other = [f"!{BLOCK_LABEL}"] if nodes.group.config.further_blocks else []
    return ",".join([*labels, *other])


def kubernetes_inventory(
    plan: EksPlan, nodes: JobNodes, found: Sequence[Mapping[str, Any]], pods: Sequence[Any]
) -> Inventory:
    """Compare the nodes of a cluster with the plan.

    Args:
        plan: Plan of the stack.
        nodes: Nodes of the test.
        found: Nodes that `node_selector` selects, as the API server returns them in JSON.
        pods: Pods of `kube-system`, likewise.
    """
    planned = node_devices(nodes.group, plan.self_managed_addons)
    if nodes.efa_interfaces:
        planned[_HUGE_PAGES] = huge_pages_of_pod_mib(nodes.group.instance_type.vcpus) * _MIB
    kubelet = nodes.group.ami_release_version.partition("-")[0]
    faults = {_name(node): [*_faults(node, planned, kubelet)] for node in found}
    has = ", ".join(_amount(name, count) for name, count in planned.items())
    return Inventory(
        stage=judge_inventory(faults, wanted=nodes.count, has=has or "no devices"),
        versions=_versions(plan, found, pods),
    )


def _faults(node: Mapping[str, Any], planned: Mapping[str, int], kubelet: str) -> Iterator[str]:
    conditions = {each["type"]: each for each in node["status"].get("conditions") or []}
    ready = conditions.get("Ready", {})
    if ready.get("status") != "True":
        yield f"is not Ready ({ready.get('message') or 'the kubelet has not reported'})"
    if node.get("spec", {}).get("unschedulable"):
        yield "is cordoned"
    allocatable = node["status"].get("allocatable") or {}
    for name, count in planned.items():
        has = int(parse_quantity(allocatable.get(name, 0)))
        # The AMI reserves huge pages by its own formula, so only the need of a pod is planned.
        if has < count or (has > count and name != _HUGE_PAGES):
            yield f"has {_amount(name, has)} instead of {_amount(name, count)}"
    version = node["status"]["nodeInfo"]["kubeletVersion"].removeprefix("v").partition("-")[0]
    if version != kubelet:
        yield f"runs kubelet {version}, and the planned AMI has {kubelet}: replace the node"


def _amount(name: str, count: int) -> str:
    return f"{count // _MIB} MiB of {name}" if name == _HUGE_PAGES else f"{count} {name}"


def _versions(
    plan: EksPlan, found: Sequence[Mapping[str, Any]], pods: Sequence[Any]
) -> dict[str, dict[str, str]]:
    versions = {
        component: {_name(node): node["status"]["nodeInfo"][key] for node in found}
        for component, key in _NODE_INFO.items()
    }
    images = {_name(node): (node["metadata"].get("labels") or {}).get(_AMI) for node in found}
    versions["AMI"] = {name: image for name, image in images.items() if image}
    names = set(images)
    plugins = {SELF_MANAGED_ADDONS[name].daemon_set for name in device_plugins(plan)}
    for pod in pods:
        node = pod.get("spec", {}).get("nodeName")
        owners = [each["name"] for each in pod["metadata"].get("ownerReferences") or []]
        for plugin in plugins.intersection(owners):
            if plugin and node in names:
                image = pod["spec"]["containers"][0]["image"]
                versions.setdefault(plugin, {})[node] = image.rpartition("/")[2].partition(":")[2]
    return {component: of_nodes for component, of_nodes in versions.items() if of_nodes}


def _name(node: Mapping[str, Any]) -> str:
    return node["metadata"]["name"]
