"""A Kubernetes job that uses every GPU and every EFA interface of every training node.

One pod a node runs NCCL's all-reduce over the node's GPUs with peer-to-peer and shared memory
switched off, so that all traffic leaves through the EFA interfaces. It shows that the device
plugins, the EFA driver and the NCCL plugin work on each node; it needs no operator in the cluster.
It does not measure the network between nodes: that takes an MPI launcher.

Source:
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
    https://github.com/NVIDIA/nccl-tests
"""

from __future__ import annotations

from typing import Any

import yaml

from components.catalog.versions import NCCL_TESTS_IMAGE
from components.eks.plan import EksPlan, NodeGroupPlan
from tools.cli.failures import WrongUseError

HUGE_PAGES = "5120Mi"
"""2 MiB pages that libfabric takes for its buffers; EKS accelerated AMIs reserve 5128 of them."""
MEMORY = "32000Mi"
ALL_REDUCE = "/opt/nccl-tests/build/all_reduce_perf"


def render_efa_smoke_job(plan: EksPlan) -> str:
    """Return the manifest: one indexed job for each node group with GPUs and EFA.

    Raises:
        WrongUseError: no node group has both.
    """
    groups = [group for group in plan.node_groups if _gpus(group) and group.interfaces]
    if not groups:
        raise WrongUseError(
            f"{plan.name} has no node group with NVIDIA GPUs and EFA, so there is nothing that "
            "efa-smoke could test; set `efa_enabled: true` on a node group whose type has EFA"
        )
    return yaml.safe_dump_all([_job(plan, group) for group in groups], sort_keys=False)


def _job(plan: EksPlan, group: NodeGroupPlan) -> dict[str, Any]:
    # A block that has not begun wants no node yet; the job then waits for as many as it can have.
    nodes = group.schedule.desired or group.schedule.maximum
    labels = {"app.kubernetes.io/name": "efa-smoke", "app.kubernetes.io/instance": group.name}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"efa-smoke-{group.name}".lower().replace("_", "-")},
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes,
            "parallelism": nodes,
            "backoffLimit": 0,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    "nodeSelector": {"node.kubernetes.io/instance-type": group.instance_type.name},
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [_container(group)],
                    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
                },
            },
        },
    }


def _container(group: NodeGroupPlan) -> dict[str, Any]:
    gpus = _gpus(group)
    assert group.interfaces is not None  # noqa: S101 - the caller chose groups that have some
    devices = {
        "nvidia.com/gpu": gpus,
        "vpc.amazonaws.com/efa": group.interfaces.efa_interfaces,
        "hugepages-2Mi": HUGE_PAGES,
        "memory": MEMORY,
    }
    network_only = {
        "NCCL_DEBUG": "INFO",
        "NCCL_P2P_DISABLE": "1",
        "NCCL_SHM_DISABLE": "1",
        # The name of the plugin aws-ofi-nccl on AWS since 1.15 (before, `AWS Libfabric`): NCCL
        # fails where it does not load, instead of falling back to TCP.
        "NCCL_NET": "Libfabric",
    }
    return {
        "name": "all-reduce",
        "image": NCCL_TESTS_IMAGE,
        "command": [ALL_REDUCE],
        "args": ["-b", "8", "-e", "1G", "-f", "2", "-g", str(gpus), "-c", "1"],
        "env": [{"name": name, "value": value} for name, value in network_only.items()],
        "resources": {"limits": devices, "requests": dict(devices)},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 - in the container
    }


def _gpus(group: NodeGroupPlan) -> int:
    accelerators = group.instance_type.accelerators
    return accelerators.count if accelerators and accelerators.manufacturer == "nvidia" else 0
