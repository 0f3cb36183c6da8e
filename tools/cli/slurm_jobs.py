"""`job` for ParallelCluster stacks: writes a directory of scripts and prints the next steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from components.parallelcluster.plan import ParallelClusterPlan
from tools.cli import console, failures
from tools.cli.stack_config import plan_of
from tools.jobs.names import SLURM_JOBS
from tools.jobs.nodes import JobError
from tools.jobs.slurm.bert_pretraining import render_bert_directory
from tools.jobs.slurm.directory import JobDirectory, write_directory
from tools.jobs.slurm.nccl_tests import render_nccl_directory
from tools.jobs.slurm.nccom_tests import render_nccom_directory
from tools.jobs.slurm.next_steps import next_steps
from tools.jobs.slurm.nodes import SlurmNodes, SlurmRequest
from tools.workspace.stack_files import StackFile

Renderer = Callable[[ParallelClusterPlan, SlurmRequest], tuple[JobDirectory, SlurmNodes]]

_RENDERERS: Mapping[str, Renderer] = dict(
    zip(
        SLURM_JOBS,
        (render_nccl_directory, render_nccom_directory, render_bert_directory),
        strict=True,
    )
)


def write_job(
    stack_file: StackFile, name: str, nodes: int | None, options: Mapping[str, Any]
) -> None:
    """Write the directory of a job, and print what was written and the next steps.

    Args:
        stack_file: File of the stack.
        name: One of `SLURM_JOBS`.
        nodes: Number of nodes; None for the maximum.
        options: Values of the Slurm options, by option; None if not given.

    Raises:
        WrongUseError: the stack has no nodes for the job, or the directory is not empty.
    """
    plan = plan_of(stack_file)
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - no other kind has these jobs
    request = SlurmRequest(
        queue=options["--queue"],
        compute_resource=options["--compute-resource"],
        nodes=nodes,
        scaling=options["--scaling"] or "strong",
    )
    output = options["--output"] or Path(f"{stack_file.stack}-{name}")
    try:
        job, chosen = _RENDERERS[name](plan, request)
        write_directory(job, output, force=bool(options["--force"]))
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    console.answer(f"{name} on {plan.name}: {chosen.description}\n")
    console.answer("\n".join(f"    {output / file}" for file in job.files))
    console.answer("\n" + next_steps(plan, job, chosen, str(output)).rstrip())
