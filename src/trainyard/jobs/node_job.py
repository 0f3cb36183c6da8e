"""Jobs on each node alone, and tests of parts of the nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.catalog.instance_types import Accelerators
from trainyard.components.catalog.nccl import largest_message
from trainyard.jobs.job_manifest import submitted
from trainyard.jobs.nodes import JobError, JobNodes, job_name, placement, shared_memory

# Bash commands that run a test on parts of the nodes: each node alone, or pairs of them.
#
# Parts without a common node run at the same time. A line of the log begins with the nodes of its
# part, so that `trainyard.verify.stages` can read it.


PART_MINUTES = 10
"""Longest test of a part: a node whose collective operations hang must not end the job."""
_ALONE = """\
for host in "${hosts[@]}"; do
  (alone_test "$host" || echo "the test ended with $?") 2>&1 |
    sed --unbuffered "s/^/[alone $host] /" &
done
wait
"""
_PAIRS = """\
pair() {
  local one=${hosts[$1]} two=${hosts[($1 + 1) % ${#hosts[@]}]}
  (pair_test "$one" "$two" "$1" || echo "the test ended with $?") 2>&1 |
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


def require_pairs(job: str, nodes: int) -> None:
    """Refuse a single node.

    Raises:
        JobError: there is no pair.
    """
    if nodes < 2:
        raise JobError(f"{job} tests pairs of nodes: use --nodes 2 or more")


def alone_tests(test: str) -> str:
    """Return Bash commands that test each host in the array `hosts`.

    Args:
        test: Commands that test the host in `$1`.
    """
    return f"alone_test() {{\n{test.rstrip()}\n}}\n{_ALONE}"


def pair_tests(test: str) -> str:
    """Return Bash commands that test all pairs of neighbors in a ring of the hosts in `hosts`.

    Args:
        test: Commands that test the hosts in `$1` and `$2`; `$3` is the number of the pair.
    """
    return f"pair_test() {{\n{test.rstrip()}\n}}\n{_PAIRS}"


def part_options(accelerators: Accelerators) -> str:
    """Return the options of `all_reduce_perf`: only messages that use the whole bandwidth."""
    return f"-b 1G -e {largest_message(accelerators)} -f 2 -g 1 -c 1 -n 20"


def node_job(
    name: str,
    nodes: JobNodes,
    namespace: str,
    container: Mapping[str, Any],
    *,
    deadline_seconds: int | None = None,
) -> dict[str, Any]:
    """Return the job.

    Args:
        name: Name of the job, such as `efa-smoke`.
        nodes: Its nodes.
        namespace: Its namespace.
        container: The container of a pod; it gets `/dev/shm`.
        deadline_seconds: Longest run; None for no limit.
    """
    labels = {"app.kubernetes.io/name": name, "app.kubernetes.io/instance": nodes.group.name}
    mounts = [{"name": "shm", "mountPath": "/dev/shm"}]  # noqa: S108 - in the container
    deadline = {"activeDeadlineSeconds": deadline_seconds} if deadline_seconds else {}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": job_name(name, nodes), "namespace": namespace},
        "spec": {
            "completionMode": "Indexed",
            "completions": nodes.count,
            "parallelism": nodes.count,
            "backoffLimit": 0,
            **deadline,
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "restartPolicy": "Never",
                    **placement(nodes),
                    "containers": [{**container, "volumeMounts": mounts}],
                    "volumes": [shared_memory(nodes)],
                },
            },
        },
    }
    return submitted(job, nodes)
