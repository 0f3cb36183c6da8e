"""The two phases of BERT-Large pretraining, and how they scale to several nodes.

Strong scaling keeps the global batch: each node accumulates fewer gradients per step, so the same
run takes less time. Weak scaling keeps the work per node: the global batch grows with the number of
nodes.

Source of all numbers:
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/frameworks/torch/torch-neuronx/tutorials/training/bert.html
    https://github.com/aws-neuron/aws-neuron-samples, torch-neuronx/training/dp_bert_hf_pretrain:
        run_dp_bert_large_hf_pretrain_bf16_s128.sh and …_s512_phase2.sh
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.jobs.nodes import JobError

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
