"""The nodes of a scheduler, compared with the plan before a test."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from trainyard.components.catalog.efa import huge_pages_of_pod_mib
from trainyard.components.catalog.image_references import in_registry
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS, device_plugins
from trainyard.components.eks.node_group_plan import BLOCK_LABEL, node_devices
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.nodes import JobNodes
from trainyard.jobs.slurm.nodes import SlurmNodes
from trainyard.verify.stages import Stage, Versions

_NAME = "inventory"
_MOST_FAULTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What the scheduler knows about the nodes of a test."""

    stage: Stage
    versions: Versions = field(default_factory=dict[str, Mapping[str, str]])


def judge_inventory(faults: Mapping[str, Sequence[str]], *, wanted: int, has: str) -> Stage:
    """Return the stage: it passes if enough nodes are without a fault.

    Args:
        faults: What is wrong with each node; empty for a node as planned.
        wanted: Number of nodes that the test runs on.
        has: What such a node has, for people.
    """
    good = sum(not said for said in faults.values())
    bad = [f"{node} {' and '.join(said)}" for node, said in faults.items() if said]
    more = f"; and {len(bad) - _MOST_FAULTS} more" if len(bad) > _MOST_FAULTS else ""
    listed = f": {'; '.join(bad[:_MOST_FAULTS])}{more}" if bad else ""
    if good >= wanted:
        reason = f"{good} of {len(faults)} nodes are as planned, with {has}{listed}"
        return Stage(name=_NAME, result="pass", reason=reason)
    reason = f"{good} of {wanted} nodes are as planned, with {has}{listed}"
    return Stage(name=_NAME, result="fail", reason=reason)


def no_inventory(reason: str) -> Inventory:
    """Return the inventory of a scheduler that has nothing to compare."""
    return Inventory(stage=Stage(name=_NAME, result="skipped", reason=reason))


# The nodes of a node group in the Kubernetes API, compared with the plan.
#
# Source:
#     https://kubernetes.io/docs/reference/node/node-status/ (conditions, allocatable, `nodeInfo`)
#     https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html (labels)
#     https://github.com/awslabs/amazon-eks-ami/releases: the release version of an AMI begins with
#         the version of its kubelet


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
    faults = {_name(node): [*_faults_of_node(node, planned, kubelet)] for node in found}
    has = ", ".join(_amount(name, count) for name, count in planned.items())
    return Inventory(
        stage=judge_inventory(faults, wanted=nodes.count, has=has or "no devices"),
        versions=_versions(plan, found, pods),
    )


def _faults_of_node(
    node: Mapping[str, Any], planned: Mapping[str, int], kubelet: str
) -> Iterator[str]:
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
                image = in_registry(pod["spec"]["containers"][0]["image"], starts="Kubernetes")
                versions.setdefault(plugin, {})[node] = image.tag or ""
    return {component: of_nodes for component, of_nodes in versions.items() if of_nodes}


def _name(node: Mapping[str, Any]) -> str:
    return node["metadata"]["name"]


# The nodes of a compute resource in Slurm, compared with the plan.
#
# Source:
#     https://slurm.schedmd.com/scontrol.html (`show nodes`) and
#     https://slurm.schedmd.com/sinfo.html#SECTION_NODE-STATE-CODES
#     https://github.com/aws/aws-parallelcluster-node/pull/350: states of nodes that are off,
#     start
#         or do not respond
#     https://github.com/aws/aws-parallelcluster-cookbook, `config_renderer.py` of the Slurm
#     cookbook:
#         features of a node are `static` or `dynamic` and the name of its compute resource;
#         GPUs are GRES, EFA and Neuron devices are not


SHOW_NODES = "set -o pipefail\nscontrol --oneliner show nodes | gzip --stdout | base64 --wrap=0\n"
"""A script for the head node. Its output is compressed, because Systems Manager returns the first
24,000 characters only: those of 30 nodes."""
_FIELD = re.compile(r"(\w+)=(\S*)")
_REASON = re.compile(r"\bReason=(.*?) \[[^]@]+@")
_GPUS = re.compile(r"\bgpu(?::[^:,(]+)?:(\d+)")
_UNUSABLE = frozenset(
    {
        *("DOWN", "DRAIN", "ERROR", "FAIL", "FAILING", "FUTURE", "INVALID_REG", "MAINT"),
        *("NOT_RESPONDING", "UNKNOWN"),
    }
)
_OFF = frozenset({"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"})


def slurm_inventory(nodes: SlurmNodes, shown: str) -> Inventory:
    """Compare the nodes of a compute resource with the plan.

    Args:
        nodes: Nodes of the test.
        shown: What `SHOW_NODES` prints.
    """
    lines = gzip.decompress(base64.b64decode(shown)).decode().splitlines()
    gpus = nodes.accelerators.count if nodes.accelerators.manufacturer == "nvidia" else 0
    faults = {
        fields["NodeName"]: [*_faults(fields, gpus)]
        for fields in map(_fields, lines)
        if _is_in(fields, nodes)
    }
    has = f"{gpus} GPUs in GRES" if gpus else "a usable state"
    return Inventory(stage=judge_inventory(faults, wanted=nodes.count, has=has))


def _fields(line: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(line):
        found.setdefault(name, value)
    if reason := _REASON.search(line):
        found["Reason"] = reason[1]
    return found


def _is_in(fields: Mapping[str, str], nodes: SlurmNodes) -> bool:
    return nodes.queue.name in fields.get("Partitions", "").split(",") and (
        nodes.resource.name in fields.get("AvailableFeatures", "").split(",")
    )


def _faults(fields: Mapping[str, str], gpus: int) -> Iterator[str]:
    states = fields.get("State", "UNKNOWN").split("+")
    unusable = set(_UNUSABLE.intersection(states))
    if "POWERING_UP" in states:
        unusable.discard("NOT_RESPONDING")
    static = "static" in fields.get("AvailableFeatures", "").split(",")
    if unusable or (static and _OFF.intersection(states)):
        reason = fields.get("Reason")
        yield f"is {fields.get('State')}" + (f" ({reason})" if reason else "")
    found = sum(int(count) for count in _GPUS.findall(fields.get("Gres", "")))
    if found != gpus:
        yield f"has {found} GPUs in GRES instead of {gpus}"
