"""The jobs of `job` and `run` for ParallelCluster stacks, as directories of scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainyard.cli import console, failures
from trainyard.components.catalog.capacity_blocks import terminated_before_end
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.names import BERT_PRETRAINING, DCGM_LEVEL, SLURM_JOBS
from trainyard.jobs.slurm.bert_pretraining import render_bert_directory
from trainyard.jobs.slurm.dcgm_diag import render_dcgm_directory
from trainyard.jobs.slurm.directory import JobDirectory, next_steps, write_directory
from trainyard.jobs.slurm.nccl_tests import render_nccl_directory, render_pairs_directory
from trainyard.jobs.slurm.nccom_tests import render_nccom_directory, render_nccom_pairs_directory
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest
from trainyard.jobs.slurm.training import BATCH_SCRIPT, plan_training
from trainyard.jobs.time_limit import TimeLimit
from trainyard.jobs.training import TrainingRequest
from trainyard.sandboxes import faults as sandbox_faults
from trainyard.sandboxes.client import has_recorded_log
from trainyard.schedulers.job_wait import RequestedJob, refuse
from trainyard.schedulers.scheduler import PlannedProgram
from trainyard.workspace.target import Target

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmJob:
    """A directory of scripts."""

    name: str
    directory: JobDirectory
    write: Callable[[], None]
    """Writes or prints it, instead of submitting it."""

    def show(self) -> None:
        """Write the directory, or print the script of a program.

        Raises:
            JobError: the directory is not empty, or is a file.
        """
        self.write()


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


def review_test(asked: RequestedJob, target: Target) -> None:
    """Refuse what has no effect on a job of `job`, and what the sandbox cannot run.

    Raises:
        WrongUseError: always then.
    """
    given = asked.options
    if asked.name != BERT_PRETRAINING:
        refuse({"--scaling": given["--scaling"]}, f"{asked.name} is not a training job")
    if not asked.submit:
        return
    written = {option: given[option] for option in ("--output", "--force")}
    refuse(written, "--submit writes no directory")
    if target.is_sandbox and asked.name == BERT_PRETRAINING:
        raise failures.WrongUseError(
            "the sandbox has no Neuron devices that the job could train on; omit --submit to get "
            "the scripts of the job"
        )


def plan_test(plan: ParallelClusterPlan, target: Target, asked: RequestedJob) -> SlurmJob:
    """Return a job of `job`, which is submitted, or written as a directory with the next steps.

    Raises:
        JobError: the stack has no nodes for the job.
        WrongUseError: the cluster is in the sandbox, which has no accelerators and no log for the
            job.
    """
    options = asked.options
    request = SlurmRequest(
        queue=options["--queue"],
        compute_resource=options["--compute-resource"],
        nodes=asked.nodes,
        scaling=options["--scaling"] or "strong",
        level=options["--level"] or DCGM_LEVEL,
    )
    job, chosen = _RENDERERS[asked.name](plan, request)
    if asked.submit and target.is_sandbox:
        refuse_in_sandbox(job.job_names, "omit --submit to get the scripts of the job")

    def write() -> None:
        output = options["--output"] or Path(f"{target.stack}-{asked.name}")
        write_directory(job, output, force=bool(options["--force"]))
        console.answer(f"{asked.name} on {plan.name}: {chosen.description}\n")
        console.answer("\n".join(f"    {output / file}" for file in job.files))
        console.answer("\n" + next_steps(plan, job, chosen, str(output)).rstrip())

    return SlurmJob(name=asked.name, directory=job, write=write)


def review_program(asked: RequestedJob, request: TrainingRequest, target: Target) -> None:
    """Refuse a program of `run` that the sandbox cannot run.

    Raises:
        WrongUseError: always then.
    """
    if asked.submit and target.is_sandbox and request.image:
        raise failures.WrongUseError(
            "the sandbox runs no containers; omit the image to run the program on this machine, or "
            "print its script with --dry-run"
        )


def plan_program(
    plan: ParallelClusterPlan, asked: RequestedJob, request: TrainingRequest
) -> PlannedProgram[SlurmJob]:
    """Return a program of `run`.

    Raises:
        JobError: the stack has no such nodes, or too few.
    """
    nodes = SlurmRequest(
        queue=asked.options["--queue"],
        compute_resource=asked.options["--compute-resource"],
        nodes=asked.nodes,
    )
    training = plan_training(plan, request, nodes)

    def render(limit: TimeLimit) -> SlurmJob:
        job = training.directory(limit)
        return SlurmJob(
            name=request.name,
            directory=job,
            write=lambda: console.answer_document(job.files[BATCH_SCRIPT]),
        )

    return PlannedProgram(
        time_limit_minutes=request.time_limit_minutes,
        capacities=training.nodes.capacities,
        nodes_leave_before=terminated_before_end(training.nodes.resource.instance_type.name),
        render=render,
    )
