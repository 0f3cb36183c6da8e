"""`job`: generates a job for a stack from its plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from trainyard.cli import failures, options
from trainyard.jobs.names import BATCH_JOBS, BERT_PRETRAINING, DCGM_DIAG, EKS_JOBS, SLURM_JOBS
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.schedulers.job_wait import RequestedJob, requested_wait
from trainyard.stack_files.stack_config import kind_of
from trainyard.stack_files.stack_files import BATCH, EKS, NETWORK, PARALLELCLUSTER

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


Name = Annotated[str, typer.Argument(help=f"Name of the job: {', '.join(_EVERY_JOB)}.")]
Nodes = Annotated[
    int | None,
    typer.Option(
        "--nodes",
        min=1,
        help="Number of nodes. Default: the desired size of the group, or the maximum in Slurm.",
    ),
]
ScalingOption = Annotated[
    Scaling | None,
    typer.Option(
        "--scaling",
        help="bert-pretraining: keep the global batch size (strong), or increase it (weak).",
    ),
]
Level = Annotated[
    int | None,
    typer.Option(
        "--level", min=1, max=4, help="dcgm-diag: from seconds (1) to hours (4). Default: 2."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Slurm: directory to write to. Default: ./<stack>-<job>."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Slurm: write to a directory that is not empty.")
]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VALUE", help="Batch: environment variable of the job."),
]
Submit = Annotated[bool, typer.Option("--submit", help="Submit the job and print its name or id.")]
Wait = Annotated[
    bool,
    typer.Option(
        "--wait", help="With --submit, wait until the job ends. EKS, Slurm: print its log."
    ),
]


def job(
    context: typer.Context,
    stack: options.Stack,
    name: Name,
    nodes: Nodes = None,
    group: options.Group = None,
    namespace: options.Namespace = None,
    queue: options.Queue = None,
    compute_resource: options.ComputeResource = None,
    scaling: ScalingOption = None,
    level: Level = None,
    output: Output = None,
    force: Force = False,
    definition: options.Definition = None,
    env: Env = None,
    submit: Submit = False,
    wait: Wait = False,
    wait_minutes: options.WaitMinutes = None,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Generate a job for the stack: a manifest on standard output, Slurm scripts, or a request.

    EKS: a manifest is printed. ParallelCluster: a directory of scripts is written. Batch: a request
    is printed. With --submit, the job is submitted instead.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    kind = kind_of(target.stack_file)
    _refuse_unknown(name, kind, stack)
    given = {
        EKS: {"--group": group, "--namespace": namespace},
        PARALLELCLUSTER: {
            "--queue": queue,
            "--compute-resource": compute_resource,
            "--scaling": scaling,
            "--output": output,
            "--force": force or None,
        },
        BATCH: {"--definition": definition, "--env": env or None},
    }
    refuse_foreign(given, kind, stack)
    asked = RequestedJob(
        deployed=deployed_stack(context, target),
        name=name,
        nodes=nodes,
        options={**given[kind], "--level": level},
        submit=submit,
        wait=requested_wait(target.account, submit=submit, wait=wait, minutes=wait_minutes),
    )
    _refuse_without_effect(asked, kind)
    make_of_kind(asked, kind)


def _refuse_unknown(name: str, kind: str, stack: str) -> None:
    if name not in JOBS[kind]:
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; available: "
            + (", ".join(JOBS[kind]) or "none")
            + ("; --definition selects a job definition" if kind == BATCH else "")
        )


def _refuse_without_effect(asked: RequestedJob, kind: str) -> None:
    """Refuse options that the job, or its submission, does not use."""
    given = asked.options
    if asked.name != DCGM_DIAG:
        refuse({"--level": given["--level"]}, f"{asked.name} has no level")
    if kind != PARALLELCLUSTER:
        return
    if asked.name != BERT_PRETRAINING:
        refuse({"--scaling": given["--scaling"]}, f"{asked.name} is not a training job")
    if asked.submit:
        written = {option: given[option] for option in ("--output", "--force")}
        refuse(written, "--submit writes no directory")


def make_of_kind(asked: RequestedJob, kind: str) -> None:
    """Print, write or submit a job with the module of the stack's kind."""
    if kind == PARALLELCLUSTER:
        from trainyard.schedulers.slurm.jobs import make_job
    elif kind == BATCH:
        from trainyard.schedulers.batch.jobs import make_job
    else:
        from trainyard.schedulers.kubernetes.jobs import make_job
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
