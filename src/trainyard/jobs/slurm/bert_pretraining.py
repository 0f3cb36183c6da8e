"""`bert-pretraining` for Slurm: BERT-Large on Trainium, phases 1 and 2, data-parallel.

Source:
    https://github.com/aws-neuron/aws-neuron-parallelcluster-samples, dp-bert-launch-job.md
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/tutorials/training/bert.html
    https://awsdocs-neuron.readthedocs-hosted.com/en/v2.30.0/frameworks/torch/torch-neuronx/setup/pytorch-install-prev-al2023.html
"""

from __future__ import annotations

import shlex

from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.slurm.bert_phases import (
    PHASE_1,
    PHASES,
    Phase,
    accumulation_steps,
    global_batch,
)
from trainyard.jobs.slurm.directory import JobDirectory
from trainyard.jobs.slurm.neuron import ADDRESSES, NEURON_BIN, cores_of_a_node, efa_environment
from trainyard.jobs.slurm.nodes import (
    SlurmNodes,
    SlurmRequest,
    choose_slurm_nodes,
    shared_directory,
)
from trainyard.jobs.slurm.templates import exports, render_script

JOB = "bert-pretraining"
SAMPLES_COMMIT = "dd0e71f0041f9eb4a5fd3e070df5638d48a67285"
"""Commit of https://github.com/aws-neuron/aws-neuron-samples with the training script and its
requirements."""
NEURONX_CC_VERSION = "2.23.6484.0"
TORCH_NEURONX_VERSION = "2.8.0.2.12.22436"
"""Compiler and framework of Neuron SDK 2.28.0: the last versions that Neuron publishes for Amazon
Linux 2023 and Python 3.12. PyTorch/XLA, which the script requires, ended with SDK 2.31."""
PYTHON_VERSION = "3.12"
UV_VERSION = "0.13.8"
"""Version of uv, which installs the same Python on all nodes."""
RENDEZVOUS_PORT = 2022
"""Port on the first node for the rendezvous of torchrun's agents, as in Neuron's script."""
ROOT_COMM_PORT = 48620
"""Port that PyTorch Neuron uses for collectives; reserved, so that no other process gets it."""
GRAPH_STEPS = 10
"""Steps after which all graphs have been compiled; Neuron's pages say 10 to 15."""
_SCRIPTS = ("setup.sh", "submit.sh", "compile.sbatch", "train.sbatch", "worker.sh")


def render_bert_directory(
    plan: ParallelClusterPlan, request: SlurmRequest
) -> tuple[JobDirectory, SlurmNodes]:
    """Return the scripts for a compute resource with Trainium, and its nodes.

    Raises:
        JobError: the stack has no such nodes, or too few, or a number of nodes that does not divide
            the work (strong scaling).
    """
    nodes = choose_slurm_nodes(plan, "neuron", request)
    values = _values(plan, nodes)
    files = {
        "settings.sh": render_script(f"{JOB}/settings.sh", values),
        "addresses.sh": render_script(ADDRESSES, values),
        **{f"phase{phase.number}.sh": _phase(phase, nodes, request) for phase in PHASES},
        **{name: render_script(f"{JOB}/{name}", values) for name in _SCRIPTS},
    }
    job = JobDirectory(
        files=files,
        submit=("./setup.sh", "./submit.sh"),
        results=(
            "tail -f bert-*.out",
            f"ls {shlex.quote(shared_directory(plan))}/$(id -un)/{JOB}/phase1",
        ),
    )
    return job, nodes


def _values(plan: ParallelClusterPlan, nodes: SlurmNodes) -> dict[str, object]:
    return {
        "cluster": plan.name,
        "description": nodes.description,
        "placement": nodes.placement,
        "nodes": nodes.count,
        "cores": cores_of_a_node(nodes),
        "shared": shlex.quote(shared_directory(plan)),
        "neuron_bin": NEURON_BIN,
        "neuronx_cc": NEURONX_CC_VERSION,
        "torch_neuronx": TORCH_NEURONX_VERSION,
        "python": PYTHON_VERSION,
        "uv": UV_VERSION,
        "samples_commit": SAMPLES_COMMIT,
        "datasets": "\n".join(f"  {phase.dataset}" for phase in PHASES),
        "rendezvous_port": RENDEZVOUS_PORT,
        "root_comm_port": ROOT_COMM_PORT,
        "graph_steps": GRAPH_STEPS,
        "phase1_steps": PHASE_1.steps,
        "environment": exports(efa_environment(nodes)),
    }


def _phase(phase: Phase, nodes: SlurmNodes, request: SlurmRequest) -> str:
    cores = cores_of_a_node(nodes)
    accumulation = accumulation_steps(
        phase,
        cores=cores,
        nodes=nodes.count,
        scaling=request.scaling,
        most=nodes.resource.maximum,
    )
    values = {
        "BATCH_SIZE": phase.batch,
        "GRAD_ACCUM_USTEPS": accumulation,
        "LEARNING_RATE": phase.learning_rate,
        "WARMUP_STEPS": phase.warmup_steps,
        "MAX_STEPS": phase.steps,
        "SEQ_LEN": phase.sequence_length,
        "MAX_PRED_LEN": phase.maximum_predictions,
        "PHASE_DATASET": phase.dataset,
    }
    return render_script(
        f"{JOB}/phase.sh",
        {
            "number": phase.number,
            "scaling": request.scaling,
            "batch": phase.batch,
            "accumulation": accumulation,
            "cores": cores,
            "nodes": nodes.count,
            "global_batch": global_batch(
                phase, cores=cores, nodes=nodes.count, accumulation=accumulation
            ),
            "values": exports(values),
        },
    )
