"""`bert-pretraining` for Slurm: BERT-Large on Trainium, phases 1 and 2."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Literal

from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.nodes import JobError
from trainyard.jobs.slurm.directory import JobDirectory, exports, render_script
from trainyard.jobs.slurm.neuron import ADDRESSES, NEURON_BIN, cores_of_a_node, efa_environment
from trainyard.jobs.slurm.nodes import (
    SlurmNodes,
    SlurmRequest,
    choose_slurm_nodes,
    shared_directory,
)

# The two phases of BERT-Large pretraining, and how they scale to several nodes.
#
# Strong scaling keeps the global batch: each node accumulates fewer gradients per step, so the same
# run takes less time. Weak scaling keeps the work per node: the global batch grows with the number
# of nodes.
#
# Source of all numbers:
#     https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/tutorials/training/bert.html
#     https://github.com/aws-neuron/aws-neuron-samples,
#     torch-neuronx/training/dp_bert_hf_pretrain:
#         run_dp_bert_large_hf_pretrain_bf16_s128.sh and …_s512_phase2.sh


Scaling = Literal["strong", "weak"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A phase on one node with 32 NeuronCores (trn1.32xlarge)."""

    number: int
    sequence_length: int
    """Tokens per sequence."""
    maximum_predictions: int
    """Masked tokens per sequence."""
    global_batch: int
    """Sequences per step, over all cores of all nodes."""
    batch: int
    """Sequences per core and batch."""
    learning_rate: str
    warmup_steps: int
    steps: int
    dataset: str
    """Name of the archive in `s3://neuron-s3/training_datasets/…` and of its directory."""


PHASE_1 = Phase(
    number=1,
    sequence_length=128,
    maximum_predictions=20,
    global_batch=16_384,
    batch=16,
    learning_rate="4e-4",
    warmup_steps=2000,
    steps=28_125,
    dataset="bert_pretrain_wikicorpus_tokenized_hdf5_seqlen128",
)
PHASE_2 = Phase(
    number=2,
    sequence_length=512,
    maximum_predictions=80,
    global_batch=32_768,
    batch=2,
    learning_rate="2.8e-4",
    warmup_steps=781,
    steps=1563,
    dataset="bert_pretrain_wikicorpus_tokenized_hdf5_seqlen512",
)
PHASES = (PHASE_1, PHASE_2)


def accumulation_steps(phase: Phase, *, cores: int, nodes: int, scaling: Scaling, most: int) -> int:
    """Return the number of batches over which a core accumulates gradients before a step.

    Args:
        phase: The phase.
        cores: NeuronCores per node.
        nodes: Nodes of the job.
        scaling: With `strong`, the accumulation of one node is divided by the number of nodes.
        most: Maximum number of nodes for the job, for the message.

    Raises:
        JobError: the number of nodes does not divide the accumulation (strong scaling).
    """
    alone = phase.global_batch // (phase.batch * cores)
    if scaling == "weak":
        return alone
    if alone % nodes:
        allowed = ", ".join(str(count) for count in range(1, most + 1) if alone % count == 0)
        raise JobError(
            f"phase {phase.number} cannot keep its global batch of {phase.global_batch} on {nodes} "
            f"nodes: each of {cores} NeuronCores takes {phase.batch} sequences at a time, and "
            f"{alone} such batches are shared by the nodes; choose --nodes {allowed}, or "
            "--scaling weak"
        )
    return alone // nodes


def global_batch(phase: Phase, *, cores: int, nodes: int, accumulation: int) -> int:
    """Return the number of sequences per step over all cores of all nodes."""
    return phase.batch * cores * nodes * accumulation


# `bert-pretraining` for Slurm: BERT-Large on Trainium, phases 1 and 2, data-parallel.
#
# Source:
#     https://github.com/aws-neuron/aws-neuron-parallelcluster-samples, dp-bert-launch-job.md
#     https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/tutorials/training/bert.html
#     https://awsdocs-neuron.readthedocs-hosted.com/en/v2.30.0/frameworks/torch/torch-neuronx/setup/pytorch-install-prev-al2023.html


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
        job_names=("bert-compile", "bert-train"),
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
