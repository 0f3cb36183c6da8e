"""`nccl-tests` for Slurm: NCCL's all-reduce over every GPU of every node of a compute resource.

ParallelCluster's AMIs include the driver, CUDA, Open MPI, libfabric and the NCCL plugin, but
neither NCCL nor its tests. One job builds both in the shared directory, a second one runs them.

Source:
    https://github.com/NVIDIA/nccl-tests
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html
    https://github.com/aws/aws-parallelcluster, tests/integration-tests/tests/efa: also builds both
        in a shared directory, and starts them with mpirun
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests: versions that are
        compatible with each other, CUDA 13 and the EFA installer 1.48
"""

from __future__ import annotations

import shlex

from trainyard.components.catalog.nccl import MPI, largest_message, nccl_environment
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.names import NCCL_PAIRS
from trainyard.jobs.node_job import (
    PART_MINUTES,
    alone_tests,
    pair_tests,
    part_options,
    require_pairs,
)
from trainyard.jobs.node_versions import NODE_VERSIONS, VERSIONS_SCRIPT
from trainyard.jobs.slurm.directory import LIBRARY_PATH, JobDirectory, exports, render_script
from trainyard.jobs.slurm.nodes import (
    SlurmNodes,
    SlurmRequest,
    choose_slurm_nodes,
    shared_directory,
)

JOB = "nccl-tests"
NCCL_VERSION = "v2.30.4-1"
"""Tag of https://github.com/NVIDIA/nccl."""
NCCL_COMMIT = "1933fdd6360a8bfccaa0166bd71bce363d32e5b6"
"""Commit of the tag: what is built, whatever the tag becomes."""
NCCL_TESTS_VERSION = "v2.18.3"
"""Tag of https://github.com/NVIDIA/nccl-tests."""
NCCL_TESTS_COMMIT = "f727aa2a540fef911de9d7bfd8852bc5d2c69815"
"""Commit of the tag."""
_PAIR = """\
  timeout {1}m "$MPI_HOME/bin/mpirun" -n {2} --host "$1:{0},$2:{0}" "${{options[@]}}"
"""
_ALONE = """\
  NCCL_DEBUG=WARN timeout {1}m "$MPI_HOME/bin/mpirun" -n {0} --host "$1:{0}" "${{options[@]}}"
"""


def render_nccl_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts for a compute resource with NVIDIA GPUs, and its nodes.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    summary = "One all-reduce over every GPU of every node, from 8 bytes to {largest}."
    return _directory(plan, request, JOB, "all-reduce.sbatch", summary)


def render_pairs_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts that test pairs of nodes with NVIDIA GPUs, and the nodes.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    summary = "An all-reduce over every pair of neighbors in a ring of the nodes."
    job, nodes = _directory(plan, request, NCCL_PAIRS, "pairs.sbatch", summary)
    require_pairs(NCCL_PAIRS, nodes.count)
    return job, nodes


def _directory(
    plan: ParallelClusterPlan, request: SlurmRequest, job: str, test: str, summary: str
) -> tuple[JobDirectory, SlurmNodes]:
    nodes = choose_slurm_nodes(plan, "nvidia", request)
    gpus, environment = nodes.accelerators.count, nccl_environment(nodes.efa_interfaces)
    values: dict[str, object] = {
        "job": job,
        "cluster": plan.name,
        "description": nodes.description,
        "placement": nodes.placement,
        "nodes": nodes.count,
        "gpus": gpus,
        "largest": largest_message(nodes.accelerators),
        "pairs": pair_tests(_PAIR.format(gpus, PART_MINUTES, 2 * gpus)),
        "part_options": part_options(nodes.accelerators),
        "shared": shlex.quote(shared_directory(plan)),
        "model": nodes.accelerators.model.lower().replace(" ", "-"),
        "nccl_version": NCCL_VERSION,
        "nccl_tests_version": NCCL_TESTS_VERSION,
        "nccl_commit": NCCL_COMMIT,
        "nccl_tests_commit": NCCL_TESTS_COMMIT,
        "mpi": MPI,
        "libraries": LIBRARY_PATH,
        "environment": exports(environment),
        "passed": " ".join(f"-x {name}" for name in environment),
    }
    values["summary"] = summary.format(largest=values["largest"])
    for name in ("parts", "header"):
        values[name] = render_script(f"{JOB}/{name}.sbatch", values).rstrip()
    values["alone"] = _alone(nodes, str(values["parts"]))
    names = ("settings.sh", "build.sbatch", test)
    others = {VERSIONS_SCRIPT: NODE_VERSIONS} if job == JOB else {}
    directory = JobDirectory(
        files={name: render_script(f"{JOB}/{name}", values) for name in names} | others,
        submit=(
            "build=$(sbatch --parsable build.sbatch)",
            f'sbatch --dependency=afterok:"$build" --kill-on-invalid-dep=yes {test}',
        ),
        results=(f"tail -f {job}-*.out",),
        job_names=("nccl-build", job),
    )
    return directory, nodes


def _alone(nodes: SlurmNodes, parts: str) -> str:
    """Return the commands that test each node alone; empty if there is nothing to test."""
    gpus = nodes.accelerators.count
    if nodes.count == 1 or gpus == 1:
        return ""
    tests = alone_tests(_ALONE.format(gpus, PART_MINUTES))
    return f"\n# Each node alone shows its NVLink.\n{parts}\n{tests}"
