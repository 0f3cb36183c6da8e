"""`job` for ParallelCluster stacks: writes a directory of scripts, or submits the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from components.parallelcluster.plan import ParallelClusterPlan
from tools.cli import console, failures
from tools.cli.job_wait import JobWait
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


def make_job(
    stack_file: StackFile,
    name: str,
    nodes: int | None,
    options: Mapping[str, Any],
    *,
    submit: bool,
    wait: JobWait | None,
    sandbox: bool,
) -> None:
    """Submit a job, or write its directory and print what was written and the next steps.

    Args:
        stack_file: File of the stack.
        name: One of `SLURM_JOBS`.
        nodes: Number of nodes; None for the maximum.
        options: Values of the Slurm options, by option; None if not given.
        submit: Whether to submit it on the head node; no directory is written then.
        wait: How to wait for its end; None to return at once.
        sandbox: Whether the cluster is in the sandbox.

    Raises:
        WrongUseError: the stack has no nodes for the job, the directory is not empty, or the
            cluster is in the sandbox, which runs no head node.
    """
    if submit and sandbox:
        raise failures.WrongUseError(
            "the sandbox runs no machines, so its head node takes no jobs; omit --submit to get "
            "the scripts of the job"
        )
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
        if not submit:
            write_directory(job, output, force=bool(options["--force"]))
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    if submit:
        from tools.cli.slurm_submission import submit_directory

        submit_directory(plan, job, name, stack_file=stack_file, wait=wait)
        return
    console.answer(f"{name} on {plan.name}: {chosen.description}\n")
    console.answer("\n".join(f"    {output / file}" for file in job.files))
    console.answer("\n" + next_steps(plan, job, chosen, str(output)).rstrip())
