"""`nccom-tests` for Slurm: an all-reduce over every NeuronCore of a compute resource.

Source:
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
    https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccom-tests
"""

from __future__ import annotations

from components.parallelcluster.plan import ParallelClusterPlan
from tools.jobs.nccom_tests import ROOT_PORT
from tools.jobs.node_versions import NODE_VERSIONS, VERSIONS_SCRIPT
from tools.jobs.slurm.directory import JobDirectory
from tools.jobs.slurm.neuron import ADDRESSES, NEURON_BIN, cores_of_a_node, efa_environment
from tools.jobs.slurm.nodes import SlurmNodes, SlurmRequest, choose_slurm_nodes
from tools.jobs.slurm.templates import exports, render_script

JOB = "nccom-tests"


def render_nccom_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts for a compute resource with Neuron devices, and its nodes.

    Raises:
        JobError: the stack has no such nodes, or too few; or several without EFA.
    """
    nodes = choose_slurm_nodes(plan, "neuron", request)
    values = {
        "cluster": plan.name,
        "description": nodes.description,
        "placement": nodes.placement,
        "nodes": nodes.count,
        "cores": cores_of_a_node(nodes),
        "port": ROOT_PORT,
        "neuron_bin": NEURON_BIN,
        "environment": exports(efa_environment(nodes)),
    }
    job = JobDirectory(
        files={
            "all-reduce.sbatch": render_script(f"{JOB}/all-reduce.sbatch", values),
            "addresses.sh": render_script(ADDRESSES, values),
            VERSIONS_SCRIPT: NODE_VERSIONS,
        },
        submit=("sbatch all-reduce.sbatch",),
        results=("tail -f nccom-tests-*.out",),
    )
    return job, nodes
