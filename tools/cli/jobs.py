"""`job`: generates a job for a stack from its plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tools.cli import failures, options
from tools.cli.deployed_stack import deployed_stack
from tools.cli.job_wait import RequestedJob, requested_wait
from tools.cli.stack_config import kind_of
from tools.jobs.names import BATCH_JOBS, BERT_PRETRAINING, DCGM_DIAG, EKS_JOBS, SLURM_JOBS
from tools.workspace.stack_files import BATCH, EKS, NETWORK, PARALLELCLUSTER

JOBS: Mapping[str, tuple[str, ...]] = {
    EKS: EKS_JOBS,
    PARALLELCLUSTER: SLURM_JOBS,
    BATCH: BATCH_JOBS,
    NETWORK: (),
}
"""Jobs by architecture kind."""
_TITLES = {EKS: "EKS", PARALLELCLUSTER: "ParallelCluster", BATCH: "Batch"}
_EVERY_JOB = tuple(dict.fromkeys(job for jobs in JOBS.values() for job in jobs))


class Scaling(StrEnum):
    """The effect of additional nodes on a training job."""

    STRONG = "strong"
    WEAK = "weak"


def job(
    context: typer.Context,
    stack: options.Stack,
    name: Annotated[str, typer.Argument(help=f"Name of the job: {', '.join(_EVERY_JOB)}.")],
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            min=1,
            help=(
                "Number of nodes. Default: the desired size of the group, or the maximum in Slurm."
            ),
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="EKS: node group. Required if several match.")
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="EKS: an existing namespace. Default: default."),
    ] = None,
    queue: Annotated[
        str | None, typer.Option("--queue", help="Slurm: queue. Required if several match.")
    ] = None,
    compute_resource: Annotated[
        str | None,
        typer.Option(
            "--compute-resource",
            help="Slurm: compute resource. Required if several of a queue match.",
        ),
    ] = None,
    scaling: Annotated[
        Scaling | None,
        typer.Option(
            "--scaling",
            help="bert-pretraining: keep the global batch size (strong), or increase it (weak).",
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            "--level",
            min=1,
            max=4,
            help="dcgm-diag: from seconds (1) to hours (4). Default: 2.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Slurm: directory to write to. Default: ./<stack>-<job>."
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Slurm: write to a directory that is not empty.")
    ] = False,
    definition: Annotated[
        str | None,
        typer.Option("--definition", help="Batch: job definition. Required if several match."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="Batch: environment variable of the job."),
    ] = None,
    submit: Annotated[
        bool, typer.Option("--submit", help="Submit the job and print its name or id.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", help="With --submit, wait until the job ends. EKS, Slurm: print its log."
        ),
    ] = False,
    wait_minutes: Annotated[
        float | None,
        typer.Option(
            "--wait-minutes",
            min=0,
            help="With --wait, maximum minutes that the job can wait for its nodes. Default: 30.",
        ),
    ] = None,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Generate a job for the stack: a manifest on standard output, Slurm scripts, or a request.

    EKS: a manifest is printed. ParallelCluster: a directory of scripts is written. Batch: a request
    is printed. With --submit, the job is submitted instead.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    kind = kind_of(found)
    if name not in JOBS[kind]:
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; available: "
            + (", ".join(JOBS[kind]) or "none")
            + ("; --definition selects a job definition" if kind == BATCH else "")
        )
    given = {
        EKS: {"--group": group, "--namespace": namespace},
        PARALLELCLUSTER: {
            "--queue": queue,
            "--compute-resource": compute_resource,
            "--scaling": scaling,
            "--output": output,
            "--force": force or None,
        },
        BATCH: {
            "--definition": definition,
            "--env": env or None,
        },
    }
    refuse_foreign(given, kind, stack)
    asked = RequestedJob(
        deployed=deployed_stack(context, found, sandbox=sandbox),
        name=name,
        nodes=nodes,
        options={**given[kind], "--level": level},
        submit=submit,
        wait=requested_wait(submit=submit, wait=wait, minutes=wait_minutes, sandbox=sandbox),
    )
    if name != DCGM_DIAG:
        refuse({"--level": level}, f"{name} has no level")
    if kind == PARALLELCLUSTER:
        if name != BERT_PRETRAINING:
            refuse({"--scaling": scaling}, f"{name} is not a training job")
        if submit:
            refuse({"--output": output, "--force": force or None}, "--submit writes no directory")
    make_of_kind(asked, kind)


def make_of_kind(asked: RequestedJob, kind: str) -> None:
    """Print, write or submit a job with the module of the stack's kind."""
    if kind == PARALLELCLUSTER:
        from tools.cli.slurm_jobs import make_job
    elif kind == BATCH:
        from tools.cli.batch_jobs import make_job
    else:
        from tools.cli.eks_jobs import make_job
    make_job(asked)


def refuse_foreign(given: Mapping[str, Mapping[str, object]], kind: str, stack: str) -> None:
    """Refuse options of other kinds of stacks.

    Raises:
        WrongUseError: an option of another kind has a value.
    """
    for other, values in given.items():
        if other != kind:
            refuse(values, f"{stack} is not a stack of {_TITLES[other]}")


def refuse(given: Mapping[str, object], reason: str) -> None:
    """Refuse options that do not apply.

    Raises:
        WrongUseError: one of them has a value.
    """
    wrong = [option for option, value in given.items() if value is not None]
    if wrong:
        raise failures.WrongUseError(f"{reason}: omit {' and '.join(wrong)}")
