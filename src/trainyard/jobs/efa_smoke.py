"""`efa-smoke`: every GPU and every EFA interface of each training node, one node at a time.

One pod per node runs NCCL's all-reduce over the node's GPUs with peer-to-peer and shared memory
disabled, so that all traffic uses the EFA interfaces. It shows that the device plugins, the EFA
driver and the NCCL plugin work on each node. `nccl-tests` measures the performance between nodes.

Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://github.com/NVIDIA/nccl-tests
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.catalog.nccl import ALL_REDUCE, nccl_environment
from trainyard.components.catalog.versions import NCCL_TESTS_IMAGE
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.job_manifest import Manifest
from trainyard.jobs.node_job import node_job
from trainyard.jobs.nodes import JobError, JobNodes, JobRequest, choose_nodes, resources, rights


def render_efa_smoke(plan: EksPlan, request: JobRequest) -> Manifest:
    """Return the manifest: one indexed job for each node group with GPUs and EFA.

    Raises:
        JobError: no node group has both, the named one does not, or it has too few nodes.
    """
    names = [g.name for g in plan.node_groups if _has_gpus(g.instance_type) and g.interfaces]
    if not names:
        raise JobError(
            f"{plan.name} has no node group with NVIDIA GPUs and EFA, so there is nothing that "
            "efa-smoke could test; set `efa_enabled: true` on a node group whose type has EFA"
        )
    found = [
        choose_nodes(plan, "nvidia", replace(request, group=name))
        for name in ([request.group] if request.group else names)
    ]
    # The name of a group with several Capacity Blocks stands for the one that is there.
    chosen = [*{each.group.name: each for each in found}.values()]
    without = [each.group.name for each in chosen if not each.efa_interfaces]
    if without:
        raise JobError(f"node group {without[0]} has no EFA; there is: {', '.join(names)}")
    jobs = [node_job("efa-smoke", each, request.namespace, _container(each)) for each in chosen]
    return Manifest(documents=jobs, is_plain=True)


def _has_gpus(instance_type: InstanceType) -> bool:
    accelerators = instance_type.accelerators
    return accelerators is not None and accelerators.manufacturer == "nvidia"


def _container(nodes: JobNodes) -> dict[str, Any]:
    environment = {
        **nccl_environment(nodes.efa_interfaces),
        "NCCL_P2P_DISABLE": "1",
        "NCCL_SHM_DISABLE": "1",
    }
    gpus = str(nodes.accelerators.count)
    return {
        "name": "all-reduce",
        "image": NCCL_TESTS_IMAGE,
        "command": [ALL_REDUCE],
        "args": ["-b", "8", "-e", "1G", "-f", "2", "-g", gpus, "-c", "1"],
        "env": [{"name": name, "value": value} for name, value in environment.items()],
        "securityContext": rights(),
        "resources": resources(nodes),
    }
