"""`nccl-pairs`: NCCL's all-reduce over pairs of nodes, to find the node that is slow or fails.

The nodes form a ring, and each pair is two neighbors, so that every node is in two pairs.
"""

from __future__ import annotations

from trainyard.components.eks.plan import EksPlan
from trainyard.jobs.mpi import render_mpi_job
from trainyard.jobs.names import NCCL_PAIRS
from trainyard.jobs.nccl_tests import all_reduce, nccl_job
from trainyard.jobs.nodes import JobRequest, choose_nodes
from trainyard.jobs.part_tests import PART_MINUTES, pair_tests, part_options, require_pairs


def render_nccl_pairs(plan: EksPlan, request: JobRequest) -> str:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_nodes(plan, "nvidia", request)
    require_pairs(NCCL_PAIRS, nodes.count)
    gpus = nodes.accelerators.count
    test = all_reduce(
        nodes,
        ranks=2 * gpus,
        hosts=f'"$1:{gpus},$2:{gpus}"',
        test=part_options(nodes.accelerators),
    )
    command = pair_tests(f"timeout {PART_MINUTES}m {test}")
    return render_mpi_job(nccl_job(NCCL_PAIRS, nodes, command), nodes, request.namespace)
