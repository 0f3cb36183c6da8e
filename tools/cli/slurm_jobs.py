"""`job` for ParallelCluster stacks: writes a directory of scripts, or submits the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from components.parallelcluster.plan import ParallelClusterPlan
from tools.cli import console, failures
from tools.cli.job_wait import RequestedJob
from tools.cli.stack_config import plan_of
from tools.jobs.names import DCGM_LEVEL, SLURM_JOBS
from tools.jobs.nodes import JobError
from tools.jobs.slurm.bert_pretraining import render_bert_directory
from tools.jobs.slurm.dcgm_diag import render_dcgm_directory
from tools.jobs.slurm.directory import JobDirectory, write_directory
from tools.jobs.slurm.nccl_tests import render_nccl_directory, render_pairs_directory
from tools.jobs.slurm.nccom_tests import render_nccom_directory, render_nccom_pairs_directory
from tools.jobs.slurm.next_steps import next_steps
from tools.jobs.slurm.nodes import SlurmNodes, SlurmRequest

Renderer = Callable[[ParallelClusterPlan, SlurmRequest], tuple[JobDirectory, SlurmNodes]]

_RENDERERS: Mapping[str, Renderer] = dict(
    zip(
        SLURM_JOBS,
        (
            render_nccl_directory,
            render_pairs_directory,
            render_nccom_directory,
            render_nccom_pairs_directory,
            render_bert_directory,
            render_dcgm_directory,
        ),
        strict=True,
    )
)


def refuse_in_sandbox(instead: str) -> NoReturn:
    """Refuse to submit a test of accelerators to a cluster of the sandbox.

    Raises:
        WrongUseError: always.
    """
    raise failures.WrongUseError(
        f"the sandbox has no GPUs, Neuron devices or EFA that the job could test; {instead}"
    )


def make_job(asked: RequestedJob) -> None:
    """Submit a job, or write its directory and print what was written and the next steps.

    Raises:
        WrongUseError: the stack has no nodes for the job, the directory is not empty, or the
            cluster is in the sandbox, which has no accelerators.
    """
    if asked.submit and asked.sandbox:
        refuse_in_sandbox("omit --submit to get the scripts of the job")
    plan = plan_of(asked.stack_file)
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - no other kind has these jobs
    options = asked.options
    request = SlurmRequest(
        queue=options["--queue"],
        compute_resource=options["--compute-resource"],
        nodes=asked.nodes,
        scaling=options["--scaling"] or "strong",
        level=options["--level"] or DCGM_LEVEL,
    )
    output = options["--output"] or Path(f"{asked.stack_file.stack}-{asked.name}")
    try:
        job, chosen = _RENDERERS[asked.name](plan, request)
        if not asked.submit:
            write_directory(job, output, force=bool(options["--force"]))
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error
    if asked.submit:
        from tools.cli.slurm_submission import submit_directory

        submit_directory(
            plan,
            job,
            asked.name,
            stack_file=asked.stack_file,
            sandbox=asked.sandbox,
            wait=asked.wait,
        )
        return
    console.answer(f"{asked.name} on {plan.name}: {chosen.description}\n")
    console.answer("\n".join(f"    {output / file}" for file in job.files))
    console.answer("\n" + next_steps(plan, job, chosen, str(output)).rstrip())
