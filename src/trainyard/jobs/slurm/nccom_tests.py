"""`nccom-tests` for Slurm: an all-reduce over every NeuronCore of a compute resource.

Source:
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccom-tests
"""

from __future__ import annotations

from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.names import NCCOM_PAIRS
from trainyard.jobs.nccom import ROOT_PORT, nccom_pair_tests
from trainyard.jobs.node_job import require_pairs
from trainyard.jobs.node_versions import NODE_VERSIONS, VERSIONS_SCRIPT
from trainyard.jobs.slurm.directory import JobDirectory, exports, render_script
from trainyard.jobs.slurm.neuron import ADDRESSES, NEURON_BIN, cores_of_a_node, efa_environment
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest, choose_slurm_nodes

JOB = "nccom-tests"


def render_nccom_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts for a compute resource with Neuron devices, and its nodes.

    Raises:
        JobError: the stack has no such nodes, or too few; or several without EFA.
    """
    summary = "One all-reduce over every NeuronCore of every node, from 8 bytes to 2 GB."
    return _directory(plan, request, JOB, "all-reduce.sbatch", summary)


def render_nccom_pairs_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts that test pairs of nodes with Neuron devices, and the nodes.

    Raises:
        JobError: the stack has no such nodes, too few, or no EFA.
    """
    summary = "An all-reduce over every pair of neighbors in a ring of the nodes."
    job, nodes = _directory(plan, request, NCCOM_PAIRS, "pairs.sbatch", summary)
    require_pairs(NCCOM_PAIRS, nodes.count)
    return job, nodes


def _directory(
    plan: ParallelClusterPlan, request: SlurmRequest, job: str, test: str, summary: str
) -> tuple[JobDirectory, SlurmNodes]:
    nodes = choose_slurm_nodes(plan, "neuron", request)
    cores = cores_of_a_node(nodes)
    values: dict[str, object] = {
        "job": job,
        "summary": summary,
        "cluster": plan.name,
        "description": nodes.description,
        "placement": nodes.placement,
        "nodes": nodes.count,
        "cores": cores,
        "pairs": nccom_pair_tests(cores).rstrip(),
        "port": ROOT_PORT,
        "neuron_bin": NEURON_BIN,
        "environment": exports(efa_environment(nodes)),
    }
    values["header"] = render_script(f"{JOB}/header.sbatch", values).rstrip()
    files = {
        test: render_script(f"{JOB}/{test}", values),
        "addresses.sh": render_script(ADDRESSES, values),
        **({VERSIONS_SCRIPT: NODE_VERSIONS} if job == JOB else {}),
    }
    directory = JobDirectory(
        files=files,
        submit=(f"sbatch {test}",),
        results=(f"tail -f {job}-*.out",),
        job_names=(job,),
    )
    return directory, nodes
