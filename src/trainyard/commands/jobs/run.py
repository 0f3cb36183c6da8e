"""`run`: runs a program on the accelerators of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.jobs.program_files import listed_files, local_program, shipped_program
from trainyard.jobs.secret_source import secret_sources
from trainyard.jobs.training import MOST_RESTARTS, TrainingRequest
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.schedulers.job_wait import (
    JobWait,
    RequestedJob,
    environment_of,
    requested_wait,
    tell_plain_secrets,
)
from trainyard.schedulers.registry import own_options, scheduler_class
from trainyard.schedulers.scheduler import Scheduler, refusals
from trainyard.workspace.target import Account


class LauncherName(StrEnum):
    """Who starts the processes of a node."""

    TORCHRUN = "torchrun"
    MPI = "mpi"
    NONE = "none"


Command = Annotated[
    list[str] | None,
    typer.Argument(
        help="The program and its arguments, after `--`. In Slurm, a Python file or the package of "
        "-m below the working directory is copied."
    ),
]
JobFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        parser=options.input_file,
        help="Job file; options and the command override it.",
    ),
]
Name = Annotated[str | None, typer.Option(help="Name of the job. Default: train.")]
Image = Annotated[
    str | None,
    typer.Option(
        help="Container image, REGISTRY/PATH:TAG. Required in EKS; in Slurm, the nodes need Pyxis, "
        "and it can also be a squashfs file, ./FILE.sqsh."
    ),
]
Nodes = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of nodes. Default: the desired size of the group, the maximum of the "
        "compute resource, or that of the job definition.",
    ),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[=VALUE]",
        help="Environment variable of the program; without a value, that of your environment.",
    ),
]
Secret = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=PLACE",
        help="Secret variable. PLACE is secret/NAME/KEY in EKS, an ARN in Batch, and a file of "
        "the head node in Slurm.",
    ),
]
Launcher = Annotated[
    LauncherName | None,
    typer.Option(
        help="torchrun (default) and mpi start it once per accelerator, none once per node."
    ),
]
Restarts = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=MOST_RESTARTS,
        help="How many times it is started again after a failure. Default: 0.",
    ),
]
TimeLimit = Annotated[int | None, typer.Option(min=1, help="Longest run; then it is terminated.")]
Detach = Annotated[
    bool, typer.Option("--detach", help="Return when it is submitted, and do not wait.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be submitted, and submit nothing.")
]


def run(
    context: typer.Context,
    stack: options.Stack,
    command: Command = None,
    file: JobFile = None,
    name: Name = None,
    image: Image = None,
    nodes: Nodes = None,
    group: options.Group = None,
    namespace: options.Namespace = None,
    queue: options.Queue = None,
    compute_resource: options.ComputeResource = None,
    definition: options.Definition = None,
    env: Env = None,
    secret: Secret = None,
    launcher: Launcher = None,
    restarts: Restarts = None,
    time_limit_minutes: TimeLimit = None,
    detach: Detach = False,
    wait_minutes: options.WaitMinutes = None,
    dry_run: DryRun = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Run a program on the accelerators of a stack, and wait for its end.

    EKS: a Kubernetes Job. Slurm: a batch job on the head node. Batch: a job of a job definition.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, target)
    scheduler = deployed.scheduler()
    given = {
        "--group": group,
        "--namespace": namespace,
        "--queue": queue,
        "--compute-resource": compute_resource,
        "--definition": definition,
    }
    own_given = own_options(given, scheduler_class(target.stack_file), stack)
    overrides = {
        "command": command,
        "nodes": nodes,
        "name": name,
        "image": image,
        "time_limit_minutes": time_limit_minutes,
        "launcher": launcher.value if launcher else None,
        "restarts": restarts,
    }
    with refusals():
        fields = _job(file, overrides, env or (), secret or (), scheduler)
        wait = _wait(target.account, detach=detach, minutes=wait_minutes)
        _run(scheduler, fields, own_given, wait, submit=not dry_run)


def _run(
    scheduler: Scheduler[Any],
    fields: dict[str, Any],
    own_given: Mapping[str, Any],
    wait: JobWait | None,
    *,
    submit: bool,
) -> None:
    """Plan a program, limit its time, and submit it or show it."""
    nodes = fields.pop("nodes", None)
    request = TrainingRequest(**fields)
    asked = RequestedJob(
        name=request.name, nodes=nodes, options=own_given, submit=submit, wait=wait
    )
    planned = scheduler.plan_program(asked, request)
    from trainyard.schedulers.run_limits import time_limit_of  # boto3, 0.2 s

    job = planned.render(time_limit_of(planned, scheduler.target, submit=submit))
    if submit:
        scheduler.submit(job, wait)
    else:
        job.show()


def _wait(account: Account, *, detach: bool, minutes: float | None) -> JobWait | None:
    if detach and minutes is not None:
        raise failures.WrongUseError("--wait-minutes does not apply with --detach")
    return requested_wait(account, submit=True, wait=not detach, minutes=minutes)


def _job(
    file: Path | None,
    overrides: Mapping[str, Any],
    env: Sequence[str],
    secret: Sequence[str],
    scheduler: Scheduler[Any],
) -> dict[str, Any]:
    """Return the fields of a job file with those of the command, which override them.

    Raises:
        JobError: a secret has no place, or a file of the program cannot be copied.
    """
    in_file = _job_of(file)
    settings = [f"{key}={value}" for key, value in in_file.get("environment", {}).items()]
    references = {name: place for name, _, place in (each.partition("=") for each in secret)}
    environment = environment_of([*settings, *env], scheduler.reserved_prefix)
    tell_plain_secrets(environment, scheduler.instead_of_plain_values)
    fields = {
        "command": (),
        **in_file,
        **{key: value for key, value in overrides.items() if value is not None},
        "environment": environment,
        "secrets": {**in_file.get("secrets", {}), **secret_sources(references.items())},
    }
    return {**fields, **_program_here(fields, scheduler)}


def _program_here(fields: Mapping[str, Any], scheduler: Scheduler[Any]) -> dict[str, Any]:
    """Return the fields of a job that change because its program is in the working directory.

    Raises:
        JobError: it cannot be copied.
    """
    here, command, given = Path.cwd(), fields["command"], fields.get("files", {})
    if scheduler.instead_of_copies:
        name = local_program(command, here)
        if name and name not in given:
            console.progress(
                f"{name} is also a file of this directory, which is not copied: "
                f"{scheduler.instead_of_copies}"
            )
        return {}
    program = shipped_program(
        command, here, given=given, in_container=fields.get("image") is not None
    )
    if not program.files:
        return {}
    size = sum(len(each.encode()) for each in program.files.values())
    console.progress(
        f"the job takes {', '.join(program.files)} of this directory with it ({size:,} bytes)"
    )
    return {"command": program.command, "files": {**given, **program.files}}


def _job_of(file: Path | None) -> dict[str, Any]:
    """Return the content of a job file; empty without one.

    Raises:
        JobError: one of its `files` cannot be copied.
    """
    if file is None:
        return {}
    from trainyard.jobs.job_file import read_job_file

    job = read_job_file(file).given()
    return {**job, "files": listed_files(file, job.get("files", []))}
