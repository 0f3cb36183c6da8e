"""The numbers of BERT-Large pretraining, on one node and on several."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainyard.jobs.nodes import JobError
from trainyard.jobs.slurm.bert_pretraining import (
    PHASE_1,
    PHASE_2,
    PHASES,
    accumulation_steps,
    global_batch,
)

CORES = 32
DIVISORS = (1, 2, 4, 8, 16, 32)


def accumulated(phase, nodes, scaling="strong", cores=CORES, most=64):
    return accumulation_steps(phase, cores=cores, nodes=nodes, scaling=scaling, most=most)


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        # sequence, predictions, batch, accumulated, global batch, rate, warm-up, steps
        pytest.param(PHASE_1, (128, 20, 16, 32, 16_384, "4e-4", 2000, 28_125), id="phase-1"),
        pytest.param(PHASE_2, (512, 80, 2, 512, 32_768, "2.8e-4", 781, 1563), id="phase-2"),
    ],
)
def test_the_numbers_are_those_of_the_tutorial(phase, expected):
    """PR-45: 16 sequences, 32 accumulated, 28,125 steps; and phase 2 after them."""
    assert expected == (
        phase.sequence_length,
        phase.maximum_predictions,
        phase.batch,
        accumulated(phase, 1),
        phase.global_batch,
        phase.learning_rate,
        phase.warmup_steps,
        phase.steps,
    )


@pytest.mark.parametrize(
    ("nodes", "phase_1", "phase_2"),
    [(1, 32, 512), (2, 16, 256), (4, 8, 128), (8, 4, 64), (16, 2, 32), (32, 1, 16)],
)
def test_strong_scaling_divides_the_accumulation_by_the_nodes(nodes, phase_1, phase_2):
    assert (accumulated(PHASE_1, nodes), accumulated(PHASE_2, nodes)) == (phase_1, phase_2)


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: str(phase.number))
@pytest.mark.parametrize("nodes", DIVISORS)
def test_strong_scaling_keeps_the_global_batch(phase, nodes):
    found = accumulated(phase, nodes)
    assert global_batch(phase, cores=CORES, nodes=nodes, accumulation=found) == phase.global_batch


@given(
    phase=st.sampled_from(PHASES),
    cores=st.sampled_from([2, 4, 32, 64]),
    nodes=st.integers(min_value=1, max_value=600),
)
def test_strong_scaling_keeps_the_global_batch_or_is_refused(phase, cores, nodes):
    """Never rounded: a division with a remainder would silently train with another batch size."""
    alone = phase.global_batch // (phase.batch * cores)
    if alone % nodes:
        with pytest.raises(JobError):
            accumulated(phase, nodes, cores=cores)
    else:
        found = accumulated(phase, nodes, cores=cores)
        assert found >= 1
        batch = global_batch(phase, cores=cores, nodes=nodes, accumulation=found)
        assert batch == phase.global_batch


@given(phase=st.sampled_from(PHASES), nodes=st.integers(min_value=1, max_value=600))
def test_weak_scaling_grows_the_global_batch_with_the_nodes(phase, nodes):
    found = accumulated(phase, nodes, "weak")
    assert found == accumulated(phase, 1)
    batch = global_batch(phase, cores=CORES, nodes=nodes, accumulation=found)
    assert batch == nodes * phase.global_batch


def test_a_refusal_lists_the_nodes_that_there_can_be():
    with pytest.raises(JobError, match=r"choose --nodes 1, 2, 4, 8, 16, or --scaling weak"):
        accumulated(PHASE_1, 12, most=16)
