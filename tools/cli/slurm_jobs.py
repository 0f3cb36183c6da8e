"""`job` for ParallelCluster stacks: writes a directory of scripts and prints the next steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tools.cli import console, failures

if TYPE_CHECKING:
    from components.parallelcluster.plan import ParallelClusterPlan
    from tools.jobs.slurm.directory import JobDirectory
    from tools.jobs.slurm.nodes import SlurmNodes, SlurmRequest

    Renderer = Callable[[ParallelClusterPlan, SlurmRequest], tuple[JobDirectory, SlurmNodes]]

BERT_PRETRAINING = "bert-pretraining"
JOBS = ("nccl-tests", "nccom-tests", BERT_PRETRAINING)
"""Jobs for ParallelCluster stacks."""


def write_job(
    plan: ParallelClusterPlan, name: str, request: SlurmRequest, output: Path, *, force: bool
) -> None:
    """Write the directory of a job, and print what was written and the next steps.

    Args:
        plan: Plan of the stack.
        name: One of `JOBS`.
        request: The user's options for nodes and scaling.
        output: The directory.
        force: Whether the directory may contain files.

    Raises:
        WrongUseError: the stack has no nodes for the job, or the directory is not empty.
    """
    from tools.jobs.nodes import JobError
    from tools.jobs.slurm.directory import write_directory
    from tools.jobs.slurm.next_steps import next_steps

    try:
        job, nodes = _renderers()[name](plan, request)
        write_directory(job, output, force=force)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    console.answer(f"{name} on {plan.name}: {nodes.description}\n")
    console.answer("\n".join(f"    {output / file}" for file in job.files))
    console.answer("\n" + next_steps(plan, job, nodes, str(output)).rstrip())


def _renderers() -> Mapping[str, Renderer]:
    from tools.jobs.slurm.bert_pretraining import render_bert_directory
    from tools.jobs.slurm.nccl_tests import render_nccl_directory
    from tools.jobs.slurm.nccom_tests import render_nccom_directory

    return dict(
        zip(
            JOBS,
            (render_nccl_directory, render_nccom_directory, render_bert_directory),
            strict=True,
        )
    )
