"""`job` for ParallelCluster stacks: writes a directory of scripts, or submits the job."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from trainyard.cli import console, failures
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.names import BERT_PRETRAINING, DCGM_LEVEL, SLURM_JOBS
from trainyard.jobs.nodes import JobError
from trainyard.jobs.slurm.bert_pretraining import render_bert_directory
from trainyard.jobs.slurm.dcgm_diag import render_dcgm_directory
from trainyard.jobs.slurm.directory import JobDirectory, next_steps, write_directory
from trainyard.jobs.slurm.nccl_tests import render_nccl_directory, render_pairs_directory
from trainyard.jobs.slurm.nccom_tests import render_nccom_directory, render_nccom_pairs_directory
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest
from trainyard.sandboxes import faults as sandbox_faults
from trainyard.sandboxes.client import has_recorded_log
from trainyard.schedulers.job_wait import RequestedJob
from trainyard.stack_files.stack_config import plan_of

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


_JOB_NAME = re.compile(r"^#SBATCH --job-name=(\S+)", re.MULTILINE)


def refuse_in_sandbox(jobs: Iterable[str], instead: str) -> None:
    """Refuse tests of accelerators in the sandbox, unless its fault schedule gives them a log.

    The sandbox does not execute a Slurm job that the schedule names.

    Args:
        jobs: Names of the Slurm jobs.
        instead: What the user can do without a schedule.

    Raises:
        WrongUseError: the schedule does not name all jobs.
    """
    try:
        entries = sandbox_faults.in_force()
    except failures.CommandError:  # no sandbox runs yet
        entries = []
    missing = [job for job in jobs if not has_recorded_log(entries, job)]
    if missing:
        raise failures.WrongUseError(
            "the sandbox has no GPUs, Neuron devices or EFA that the job could test; give a "
            f"recorded log to {' and '.join(missing)} with `./trainyard sandbox faults FILE` "
            f"(docs/faults.md), or {instead}"
        )


def make_job(asked: RequestedJob) -> None:
    """Submit a job, or write its directory and print what was written and the next steps.

    Raises:
        WrongUseError: the stack has no nodes for the job, the directory is not empty, or the
            cluster is in the sandbox, which has no accelerators and no log for the job.
    """
    if asked.submit and asked.target.is_sandbox and asked.name == BERT_PRETRAINING:
        raise failures.WrongUseError(
            "the sandbox has no Neuron devices that the job could train on; omit --submit to get "
            "the scripts of the job"
        )
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
        if asked.target.is_sandbox:
            jobs = _JOB_NAME.findall("\n".join(job.files.values()))
            refuse_in_sandbox(jobs, "omit --submit to get the scripts of the job")
        asked.deployed.submit_directory(plan, job, asked.name, asked.wait)
        return
    console.answer(f"{asked.name} on {plan.name}: {chosen.description}\n")
    console.answer("\n".join(f"    {output / file}" for file in job.files))
    console.answer("\n" + next_steps(plan, job, chosen, str(output)).rstrip())
