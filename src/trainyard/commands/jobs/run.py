"""`run`: runs a program on the accelerators of a stack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.commands.jobs.job import refuse_foreign
from trainyard.jobs.nodes import JobError
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
from trainyard.stack_files.stack_config import kind_of, plan_of
from trainyard.stack_files.stack_files import BATCH, EKS, NETWORK, PARALLELCLUSTER
from trainyard.workspace.target import Account


class LauncherName(StrEnum):
    """Who starts the processes of a node."""

    TORCHRUN = "torchrun"
    MPI = "mpi"
    NONE = "none"


Command = Annotated[
    list[str] | None, typer.Argument(help="The program and its arguments, after `--`.")
]
JobFile = Annotated[
    Path | None,
    typer.Option("--file", "-f", help="Job file; options and the command override it."),
]
Name = Annotated[str | None, typer.Option(help="Name of the job. Default: train.")]
Image = Annotated[
    str | None,
    typer.Option(help="Container image. Required in EKS; in Slurm, the nodes need Pyxis."),
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


_INSTEAD = {
    EKS: "use --secret NAME=secret/SECRET/KEY instead",
    PARALLELCLUSTER: "use --secret 'NAME=~/.secrets/FILE' instead",
    BATCH: "use `secrets` of the job definition instead",
}
"""How a job of each kind gets a secret."""


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
    kind = kind_of(target.stack_file)
    if kind == NETWORK:
        raise failures.WrongUseError(f"{stack} is a network, and has no nodes")
    given = {
        EKS: {"--group": group, "--namespace": namespace},
        PARALLELCLUSTER: {"--queue": queue, "--compute-resource": compute_resource},
        BATCH: {"--definition": definition},
    }
    refuse_foreign(given, kind, stack)
    overrides = {
        "command": command,
        "nodes": nodes,
        "name": name,
        "image": image,
        "time_limit_minutes": time_limit_minutes,
        "launcher": launcher.value if launcher else None,
        "restarts": restarts,
    }
    with _refusals():
        job = _job(file, overrides, env or (), secret or (), kind)
        nodes = job.pop("nodes", None)
        request = TrainingRequest(**job)
        asked = RequestedJob(
            deployed=deployed_stack(context, target),
            name=request.name,
            nodes=nodes,
            options=given[kind],
            submit=not dry_run,
            wait=_wait(target.account, detach=detach, minutes=wait_minutes),
        )
        {EKS: _eks, PARALLELCLUSTER: _slurm, BATCH: _batch}[kind](asked, request)


def _wait(account: Account, *, detach: bool, minutes: float | None) -> JobWait | None:
    if detach and minutes is not None:
        raise failures.WrongUseError("--wait-minutes does not apply with --detach")
    return requested_wait(account, submit=True, wait=not detach, minutes=minutes)


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn what a job cannot be into a message of the command."""
    try:
        yield
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _job(
    file: Path | None,
    overrides: Mapping[str, Any],
    env: Sequence[str],
    secret: Sequence[str],
    kind: str,
) -> dict[str, Any]:
    """Return the fields of a job file with those of the command, which override them.

    Raises:
        JobError: a secret has no place.
    """
    in_file = _job_of(file)
    settings = [f"{key}={value}" for key, value in in_file.get("environment", {}).items()]
    references = {name: place for name, _, place in (each.partition("=") for each in secret)}
    environment = environment_of([*settings, *env], kind)
    tell_plain_secrets(environment, _INSTEAD[kind])
    return {
        "command": (),
        **in_file,
        **{key: value for key, value in overrides.items() if value is not None},
        "environment": environment,
        "secrets": {**in_file.get("secrets", {}), **secret_sources(references.items())},
    }


def _job_of(file: Path | None) -> dict[str, Any]:
    """Return the content of a job file; empty without one."""
    if file is None:
        return {}
    from trainyard.jobs.job_file import read_job_file

    job = read_job_file(file).given()
    names: list[str] = job.get("files", [])
    try:
        texts = {name: (file.parent / name).read_text(encoding="utf-8") for name in names}
    except (OSError, UnicodeDecodeError) as error:
        raise failures.WrongUseError(f"`files` of {file} cannot be read: {error}") from error
    return {**job, "files": texts}


def _plan(asked: RequestedJob) -> Any:
    return plan_of(asked.stack_file)


def _eks(asked: RequestedJob, request: TrainingRequest) -> None:
    from trainyard.components.capacity.schedule import nodes_leave_before_end
    from trainyard.jobs.eks_training import render_training
    from trainyard.jobs.nodes import JobRequest, choose_nodes
    from trainyard.schedulers.run_limits import limited

    plan = _plan(asked)
    nodes = JobRequest(
        group=asked.options["--group"],
        nodes=asked.nodes,
        namespace=asked.options["--namespace"] or "default",
    )
    render_training(plan, request, nodes)  # refuses a wrong job before the account is read
    group = choose_nodes(plan, None, nodes, own_image=True).group
    leave = nodes_leave_before_end(group.instance_type.name)
    request = limited(asked, request, [group.capacity], leave)
    manifest = render_training(plan, request, nodes)
    if not asked.submit:
        console.answer_document(manifest)
        return
    asked.deployed.submit_manifest(manifest, asked.wait)


def _slurm(asked: RequestedJob, request: TrainingRequest) -> None:
    from trainyard.components.catalog.capacity_blocks import terminated_before_end
    from trainyard.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
    from trainyard.jobs.slurm.training import render_training_directory
    from trainyard.schedulers.run_limits import limited

    if asked.submit and asked.target.is_sandbox and request.image:
        raise failures.WrongUseError(
            "the sandbox runs no containers; omit the image to run the program on this machine, or "
            "print its script with --dry-run"
        )
    plan = _plan(asked)
    nodes = SlurmRequest(
        queue=asked.options["--queue"],
        compute_resource=asked.options["--compute-resource"],
        nodes=asked.nodes,
    )
    render_training_directory(plan, request, nodes)
    chosen = choose_slurm_nodes(plan, None, nodes)
    terminated = terminated_before_end(chosen.resource.instance_type.name)
    request = limited(asked, request, chosen.capacities, terminated)
    job, _ = render_training_directory(plan, request, nodes)
    if not asked.submit:
        console.answer_document(job.files["train.sbatch"])
        return
    asked.deployed.submit_directory(plan, job, request.name, asked.wait)


def _batch(asked: RequestedJob, request: TrainingRequest) -> None:
    from trainyard.components.catalog.capacity_blocks import terminated_before_end
    from trainyard.jobs.batch_request import BatchRequest
    from trainyard.jobs.batch_training import job_environments, training_submission
    from trainyard.schedulers.run_limits import limited

    plan = _plan(asked)
    of_kind = BatchRequest(definition=asked.options["--definition"], nodes=asked.nodes)
    training_submission(plan, request, of_kind)
    environments = job_environments(plan, of_kind)
    terminated = terminated_before_end(environments[0].instance_type.name)
    request = limited(asked, request, [each.capacity for each in environments], terminated)
    submission = training_submission(plan, request, of_kind)
    for name, arn in submission.secrets.items():
        console.progress(f"{name} is a secret of the job definition: {arn}")
    if not asked.submit:
        console.answer_json(submission.request)
        return
    asked.deployed.submit_request(plan, submission, asked.wait)
