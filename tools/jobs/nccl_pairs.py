"""`nccl-pairs`: NCCL's all-reduce over pairs of nodes, to find the node that is slow or fails.

The nodes form a ring, and each pair is two neighbors, so that every node is in two pairs. Pairs
without a common node run at the same time. A line of the log begins with the hosts of its pair.
"""

from __future__ import annotations

from components.catalog.instance_type import Accelerators
from components.catalog.nccl import largest_message
from components.eks.plan import EksPlan
from tools.jobs.mpi import render_mpi_job
from tools.jobs.names import NCCL_PAIRS
from tools.jobs.nccl_tests import mpirun, nccl_job
from tools.jobs.nodes import JobError, JobRequest, choose_nodes

_NODE_NAMES = """\
for host in "${hosts[@]}"; do
  echo "[node $host] $(ssh "$host" printenv NODE_NAME)"
done
"""
PAIR_MINUTES = 10
"""Longest test of a pair: a node whose collective operations hang must not end the job."""
_LOOP = """\
pair() {
  local one=${hosts[$1]} two=${hosts[($1 + 1) % ${#hosts[@]}]}
  (pair_test "$one" "$two" || echo "the test ended with $?") 2>&1 |
    sed --unbuffered "s/^/[pair $one $two] /"
}
# The pair of the last and the first node. With an odd number of nodes, it has one in common with a
# pair of each round.
pairs=$((${#hosts[@]} > 2 ? ${#hosts[@]} : 1))
extra=$((pairs > 1 && pairs % 2))
for round in 0 1; do
  for ((first = round; first < pairs - extra; first += 2)); do pair "$first" & done
  wait
done
if ((extra)); then pair $((pairs - 1)); fi
"""


def pair_tests(test: str) -> str:
    """Return Bash commands that test all pairs of the hosts in the array `hosts`.

    Args:
        test: Commands that test the hosts in `$1` and `$2`.
    """
    return f"pair_test() {{\n{test.rstrip()}\n}}\n{_LOOP}"


def pair_options(accelerators: Accelerators) -> str:
    """Return the options of `all_reduce_perf`: only messages that use the whole bandwidth."""
    return f"-b 1G -e {largest_message(accelerators)} -f 2 -g 1 -c 1 -n 20"


def require_pairs(nodes: int) -> None:
    """Refuse a single node.

    Raises:
        JobError: there is no pair.
    """
    if nodes < 2:
        raise JobError("nccl-pairs tests pairs of nodes: use --nodes 2 or more")


def render_nccl_pairs(plan: EksPlan, request: JobRequest) -> str:
    """Return the manifest of the job on a node group with NVIDIA GPUs.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = choose_nodes(plan, "nvidia", request)
    require_pairs(nodes.count)
    gpus = nodes.accelerators.count
    test = mpirun(
        nodes,
        ranks=2 * gpus,
        hosts=f'"$1:{gpus},$2:{gpus}"',
        options=pair_options(nodes.accelerators),
    )
    command = f"{_NODE_NAMES}{pair_tests(f'timeout {PAIR_MINUTES}m {test}')}"
    job = nccl_job(NCCL_PAIRS, nodes, command, pod_fields={"NODE_NAME": "spec.nodeName"})
    return render_mpi_job(job, nodes, request.namespace)
