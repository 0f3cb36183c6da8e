"""`dcgm-diag`: NVIDIA's diagnostics of GPUs, on each node of a group.

One pod per node runs `dcgmi diag` on all GPUs of the node, so that nothing else uses them. The
levels take seconds (1), minutes (2), a quarter of an hour (3) and up to two hours (4).

Source:
    https://docs.nvidia.com/datacenter/dcgm/latest/reference/command-line-reference/dcgmi/dcgmi-diag.html
    https://github.com/NVIDIA/DCGM, docker/: the image has `nv-hostengine` and `dcgmi`
"""

from __future__ import annotations

from typing import Any

from trainyard.components.catalog.versions import DCGM_IMAGE
from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.job_manifest import Manifest
from trainyard.jobs.names import DCGM_DIAG
from trainyard.jobs.node_job import node_job
from trainyard.jobs.nodes import JobNodes, JobRequest, choose_nodes, resources, rights

_DEADLINE_SECONDS = 3 * 3600
"""Longest run: level 4 takes up to 2.25 hours, says 4.validation_and_observability/
2.gpu-cluster-healthcheck in https://github.com/awslabs/awsome-distributed-ai."""
_SCRIPT = "nv-hostengine > /dev/null\n"


def diagnose_commands(node: str, level: int, *, program: str = "dcgmi") -> str:
    """Return Bash commands that print the result of a node as lines for `trainyard.verify.stages`.

    A result has hundreds of lines of JSON, so it is folded to few. A failed diagnostic must not
    fail the job, which would end the other nodes.

    Args:
        node: Name of the node, as a word of Bash.
        level: Level of the diagnostics, 1 to 4.
        program: The command and its prefix, such as `sudo dcgmi`.
    """
    return (
        f"{{ {program} diag --run {level} --json 2>&1 || true; }} | tr -d '\\n\\t' |\n"
        f'  fold -w 2000 | sed "s/^/[dcgm {node}] /"\n'
        "echo\n"
    )


def render_dcgm_diag(plan: EksPlan, request: JobRequest) -> Manifest:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_nodes(plan, "nvidia", request)
    job = node_job(
        DCGM_DIAG,
        nodes,
        request.namespace,
        _container(nodes, request.level),
        deadline_seconds=_DEADLINE_SECONDS,
    )
    return Manifest(documents=[job], is_plain=True)


def _container(nodes: JobNodes, level: int) -> dict[str, Any]:
    node = {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
    return {
        "name": DCGM_DIAG,
        "image": DCGM_IMAGE,
        "command": ["/bin/bash", "-c", _SCRIPT + diagnose_commands("$NODE_NAME", level)],
        "env": [node],
        "securityContext": rights(),
        "resources": resources(nodes),
    }
