"""`run`: runs a program on the accelerators of a stack."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tools.cli import console, failures, options
from tools.cli.deployed_stack import deployed_stack
from tools.cli.job_wait import RequestedJob, environment_of, requested_wait
from tools.cli.jobs import refuse_foreign
from tools.cli.stack_config import kind_of, plan_of
from tools.jobs.nodes import JobError
from tools.jobs.training import MOST_RESTARTS, TrainingRequest
from tools.workspace.stack_files import BATCH, EKS, NETWORK, PARALLELCLUSTER


class LauncherName(StrEnum):
    """Who starts the processes of a node."""

    TORCHRUN = "torchrun"
    MPI = "mpi"
    NONE = "none"


def run(
    context: typer.Context,
    stack: options.Stack,
    command: Annotated[
        list[str] | None, typer.Argument(help="The program and its arguments, after `--`.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Job file; options and the command override it."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the job. Default: train.")] = None,
    image: Annotated[
        str | None,
        typer.Option(help="Container image. Required in EKS; in Slurm, the nodes need Pyxis."),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of nodes. Default: the desired size of the group, the maximum of the "
            "compute resource, or that of the job definition.",
        ),
    ] = None,
    group: Annotated[str | None, typer.Option(help="EKS: node group.")] = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="EKS: an existing namespace. Default: default."),
    ] = None,
    queue: Annotated[str | None, typer.Option(help="Slurm: queue.")] = None,
    compute_resource: Annotated[
        str | None, typer.Option(help="Slurm: compute resource of the queue.")
    ] = None,
    definition: Annotated[
        str | None, typer.Option(help="Batch: job definition in whose container it runs.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Environment variable of the program."),
    ] = None,
    launcher: Annotated[
        LauncherName | None,
        typer.Option(
            help="torchrun (default) and mpi start it once per accelerator, none once per node."
        ),
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MOST_RESTARTS,
            help="How many times it is started again after a failure. Default: 0.",
        ),
    ] = None,
    time_limit_minutes: Annotated[
        int | None, typer.Option(min=1, help="Longest run; then it is terminated.")
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Return when it is submitted, and do not wait.")
    ] = False,
    wait_minutes: Annotated[
        float | None,
        typer.Option(min=0, help="Maximum minutes that it can wait for its nodes. Default: 30."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be submitted, and submit nothing.")
    ] = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Run a program on the accelerators of a stack, and wait for its end.

    EKS: a Kubernetes Job. Slurm: a batch job on the head node. Batch: a job of a job definition.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    kind = kind_of(found)
    if kind == NETWORK:
        raise failures.WrongUseError(f"{stack} is a network, and has no nodes")
    given = {
        EKS: {"--group": group, "--namespace": namespace},
        PARALLELCLUSTER: {"--queue": queue, "--compute-resource": compute_resource},
        BATCH: {"--definition": definition},
    }
    refuse_foreign(given, kind, stack)
    if detach and wait_minutes is not None:
        raise failures.WrongUseError("--wait-minutes does not apply with --detach")
    in_file = _job_of(file)
    overrides = {
        "command": command,
        "nodes": nodes,
        "name": name,
        "image": image,
        "time_limit_minutes": time_limit_minutes,
        "launcher": launcher.value if launcher else None,
        "restarts": restarts,
    }
    job = in_file | {key: value for key, value in overrides.items() if value is not None}
    settings = [f"{key}={value}" for key, value in in_file.get("environment", {}).items()]
    job["environment"] = environment_of([*settings, *(env or ())], kind)
    nodes = job.pop("nodes", None)
    try:
        request = TrainingRequest(**{"command": (), **job})
        asked = RequestedJob(
            deployed=deployed_stack(context, found, sandbox=sandbox),
            name=request.name,
            nodes=nodes,
            options=given[kind],
            submit=not dry_run,
            wait=requested_wait(
                submit=True, wait=not detach, minutes=wait_minutes, sandbox=sandbox
            ),
        )
        {EKS: _eks, PARALLELCLUSTER: _slurm, BATCH: _batch}[kind](asked, request)
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _job_of(file: Path | None) -> dict[str, Any]:
    """Return the content of a job file; empty without one."""
    if file is None:
        return {}
    from tools.jobs.job_file import read_job_file

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
    from components.capacity.schedule import nodes_leave_before_end
    from tools.cli.run_limits import limited
    from tools.jobs.eks_training import render_training
    from tools.jobs.nodes import JobRequest, choose_nodes

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
    from components.catalog.capacity_blocks import terminated_before_end
    from tools.cli.run_limits import limited
    from tools.jobs.slurm.nodes import SlurmRequest, choose_slurm_nodes
    from tools.jobs.slurm.training import render_training_directory

    if asked.submit and asked.sandbox and request.image:
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
    from components.catalog.capacity_blocks import terminated_before_end
    from tools.cli.run_limits import limited
    from tools.jobs.batch_request import BatchRequest
    from tools.jobs.batch_training import job_environments, training_submission

    plan = _plan(asked)
    of_kind = BatchRequest(definition=asked.options["--definition"], nodes=asked.nodes)
    training_submission(plan, request, of_kind)
    environments = job_environments(plan, of_kind)
    terminated = terminated_before_end(environments[0].instance_type.name)
    request = limited(asked, request, [each.capacity for each in environments], terminated)
    submission = training_submission(plan, request, of_kind)
    if not asked.submit:
        console.answer_json(submission.request)
        return
    asked.deployed.submit_request(plan, submission, asked.wait)
