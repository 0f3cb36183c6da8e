"""The nodes that a job runs on, and the resources of its pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from trainyard.components.catalog.efa import huge_pages_of_pod_mib
from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.catalog.kueue import QUEUE, QUEUE_NAMESPACE
from trainyard.components.catalog.neuron import NEURON_DEVICE
from trainyard.components.eks.addons.kueue import KUEUE
from trainyard.components.eks.node_group_plan import BLOCK_LABEL, NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.names import DCGM_LEVEL

NVIDIA_GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"
_DEVICE: Mapping[str, str] = {"nvidia": NVIDIA_GPU, "neuron": NEURON_DEVICE}
Manufacturer = Literal["nvidia", "neuron"]
KINDS: Mapping[Manufacturer | None, str] = {
    "nvidia": "NVIDIA GPUs",
    "neuron": "Neuron devices",
    None: "accelerators",
}
"""What nodes need to have for a job, in words; None for a job that runs on any accelerator."""
_SHARED_MEMORY_LIMIT_MIB = 49152
"""Shared memory of the NCCL job of AWS Batch on a p5 (BAT5-09); smaller nodes get a quarter of the
memory that the pod requests."""


TEST_SHARE = 0.5
"""Share of CPUs and memory of a node that a test requests: more than it needs."""


class JobError(Exception):
    """The stack has no nodes for the job; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """The user's options for a job."""

    group: str | None = None
    """Node group; None selects the matching one."""
    nodes: int | None = None
    """Number of nodes; None for the desired size of the group."""
    namespace: str = "default"
    """Kubernetes namespace, which must exist."""
    tests: bool = False
    """Whether it is a test, which also runs on nodes that have not passed `verify`."""
    level: int = DCGM_LEVEL
    """Level of `dcgm-diag`, 1 to 4."""

    def __post_init__(self) -> None:
        """Validate the namespace, which becomes part of the manifest and of commands to copy.

        https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names

        Raises:
            JobError: it is not a valid namespace; the message has the rule.
        """
        if re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", self.namespace) is None:
            raise JobError(
                f"{self.namespace!r} is no namespace: at most 63 small letters, digits and hyphens "
                "that begin and end with a letter or a digit"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNodes:
    """The nodes of a job: identical, with one pod each."""

    group: NodeGroupPlan
    count: int
    queue: str | None = None
    """Queue that starts the job; None if Kubernetes starts it at once."""
    failure_policy: Mapping[str, Any] | None = None
    """When a JobSet starts all pods again; None for a Job, which replaces single pods."""
    tests: bool = False
    """Whether the job also runs on nodes that have not passed `verify`."""

    @property
    def accelerators(self) -> Accelerators:
        """The accelerators of one node."""
        found = self.group.instance_type.accelerators
        assert found is not None  # noqa: S101 - `choose_nodes` takes no other group
        return found

    @property
    def efa_interfaces(self) -> int:
        """EFA interfaces of one node; 0 if EFA is disabled."""
        return self.group.interfaces.efa_interfaces if self.group.interfaces else 0


def choose_nodes(
    plan: EksPlan,
    manufacturer: Manufacturer | None,
    request: JobRequest,
    *,
    own_image: bool = False,
) -> JobNodes:
    """Return the nodes of a job: the named node group, or the only one with such accelerators.

    The number of nodes is the requested one, or the desired size of the group. If that is 0 because
    its Capacity Block has not started, it is the maximum size.

    A job runs in one Capacity Block. A node group with several is that of the block whose nodes are
    there now, or else come first.

    Args:
        plan: Plan of the stack.
        manufacturer: Manufacturer of the accelerators; None for any.
        request: The user's options.
        own_image: Whether the user chooses the image, which may be for ARM.

    Raises:
        JobError: there is no such group, there are several and none is named, or it is too small.
    """
    chosen = _choose_group(plan, manufacturer, request.group)
    most, nodes = chosen.schedule.maximum, request.nodes
    if nodes is not None and nodes > most:
        raise JobError(
            f"node group {chosen.name} has at most {most} nodes, and the job wants {nodes}: its "
            "pods would wait indefinitely; request fewer with --nodes, or raise `maximum`"
        )
    if chosen.instance_type.architecture != "x86_64" and not own_image:
        raise JobError(
            f"node group {chosen.name} has {chosen.instance_type.name}, an ARM type, and the image "
            "of the job is for x86_64; write a job with an image of your own"
        )
    if chosen.interfaces and "efa" not in plan.self_managed_addons:
        raise JobError(
            f"{plan.name} installs no EFA device plugin (`addons.efa_device_plugin: false`), and "
            f"the job asks it for {EFA}; take the EFA devices from a resource claim of your driver"
        )
    count = nodes or chosen.schedule.desired or most
    if KUEUE.name not in plan.self_managed_addons:
        return JobNodes(group=chosen, count=count, tests=request.tests)
    _review_queue(chosen, count, request.namespace)
    return JobNodes(group=chosen, count=count, queue=QUEUE, tests=request.tests)


def _review_queue(group: NodeGroupPlan, count: int, namespace: str) -> None:
    """Refuse a job that would wait in the queue indefinitely.

    Raises:
        JobError: the namespace has no queue, or the quota is too small.
    """
    if namespace != QUEUE_NAMESPACE:
        raise JobError(
            f"the queue of the stack (`addons.kueue`) is in the namespace {QUEUE_NAMESPACE}, and "
            f"a job in {namespace} would use its nodes without being counted; use the namespace "
            f"{QUEUE_NAMESPACE}"
        )
    if count > group.nodes:
        raise JobError(
            f"the queue of the stack has a quota for {group.nodes} nodes of {group.name}, its "
            f"desired size, and the job wants {count}; request fewer with --nodes, or raise "
            "`desired`"
        )


def _choose_group(
    plan: EksPlan, manufacturer: Manufacturer | None, name: str | None
) -> NodeGroupPlan:
    fitting = {
        group.name: group
        for group in plan.node_groups
        if group.instance_type.accelerators
        and manufacturer in (None, group.instance_type.accelerators.manufacturer)
    }
    kind = KINDS[manufacturer]
    if not fitting:
        raise JobError(f"{plan.name} has no node group with {kind}, so the job has no nodes")
    pools = {group.pool for group in fitting.values()}
    if name is None and len(pools) > 1:
        raise JobError(
            f"{plan.name} has several node groups with {kind}; name one with --group: "
            + ", ".join(fitting)
        )
    of_pool = [group for group in fitting.values() if name in (None, group.pool)]
    if of_pool:
        return min(of_pool, key=_when_there)
    named = [group for group in fitting.values() if name == group.name]
    if not named:
        raise JobError(
            f"{plan.name} has no node group {name!r} with {kind}; there is: {', '.join(fitting)}"
        )
    return named[0]


def _when_there(group: NodeGroupPlan) -> tuple[bool, datetime]:
    """Return a key that sorts the nodes of one pool: those that are there, then by their start."""
    schedule = group.schedule
    over = schedule.state in ("ending", "expired")
    return over, schedule.scale_up_at or datetime.min.replace(tzinfo=UTC)


def resources(nodes: JobNodes, share: float = TEST_SHARE) -> dict[str, dict[str, Any]]:
    """Return the resources of a pod: all devices, and a share of CPUs and memory.

    With all devices, no second pod fits on the node.
    """
    group, kind = nodes.group.instance_type, nodes.accelerators.manufacturer
    limits: dict[str, Any] = {_DEVICE[kind]: nodes.accelerators.count}
    if nodes.efa_interfaces:
        limits[EFA] = nodes.efa_interfaces
        limits["hugepages-2Mi"] = f"{huge_pages_of_pod_mib(group.vcpus)}Mi"
    limits["memory"] = f"{memory_mib(nodes, share)}Mi"
    # No CPU limit: NCCL's and libfabric's threads spin, and throttling distorts the results.
    return {"limits": limits, "requests": {"cpu": int(group.vcpus * share), **limits}}


def rights() -> dict[str, Any]:
    """Return the security context of a container that uses devices, in every job.

    Memory that a device reads must be locked. A process without this capability can lock only as
    much as the container runtime lets it (`RLIMIT_MEMLOCK`):
    https://man7.org/linux/man-pages/man2/mlock.2.html
    """
    return {"capabilities": {"add": ["IPC_LOCK"]}}


def memory_mib(nodes: JobNodes, share: float = TEST_SHARE) -> int:
    """Return the memory of a pod in MiB, which includes shared memory."""
    return int(nodes.group.instance_type.memory_mib * share)


def shared_memory(nodes: JobNodes, share: float = TEST_SHARE) -> dict[str, Any]:
    """Return the volume for /dev/shm, which container runtimes limit to 64 MiB."""
    size = min(_SHARED_MEMORY_LIMIT_MIB, memory_mib(nodes, share) // 4)
    return {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": f"{size}Mi"}}


def placement(nodes: JobNodes) -> dict[str, Any]:
    """Return the fields of a pod spec that select the group's nodes and tolerate their taints.

    Only tests tolerate the taint of nodes that have not passed it.
    """
    group = nodes.group
    taints = group.first_taints if nodes.tests else group.taints
    return {
        "nodeSelector": group.node_selector,
        **_outside_further_blocks(group),
        "tolerations": [
            {"key": t.key, "operator": "Equal", "value": t.value, "effect": t.effect}
            for t in taints
        ],
    }


def _outside_further_blocks(group: NodeGroupPlan) -> dict[str, Any]:
    """Return the affinity that keeps a job off the nodes of the further blocks of its node group.

    The nodes of all blocks have the labels of the first one, and the further ones also that of
    their block. EFA does not connect nodes in two zones.
    """
    if not group.config.further_blocks:
        return {}
    expression = {"key": BLOCK_LABEL, "operator": "DoesNotExist"}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    }


def job_name(job: str, nodes: JobNodes) -> str:
    """Return the name of a job on a node group: a DNS label, with room for the pod index."""
    return f"{job}-{nodes.group.name}".lower().replace("_", "-")[:57].rstrip("-")
