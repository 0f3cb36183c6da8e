"""`job`: generates a job for a stack from its plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tools.cli import batch_jobs, console, failures, options, slurm_jobs
from tools.cli.batch_waiting import START_LIMIT_MINUTES, JobWait
from tools.workspace.stack_files import BATCH, EKS, NETWORK, PARALLELCLUSTER

if TYPE_CHECKING:
    from components.batch.plan import BatchPlan
    from components.eks.plan import EksPlan
    from components.parallelcluster.plan import ParallelClusterPlan
    from tools.jobs.nodes import Renderer
    from tools.workspace.stack_files import StackFile

EKS_JOBS = ("nccl-tests", "nccom-tests", "efa-smoke")
JOBS: Mapping[str, tuple[str, ...]] = {
    EKS: EKS_JOBS,
    PARALLELCLUSTER: slurm_jobs.JOBS,
    BATCH: batch_jobs.JOBS,
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
        bool, typer.Option("--submit", help="Batch: submit the job and print its id.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Batch: with --submit, wait until the job ends.")
    ] = False,
    wait_minutes: Annotated[
        float | None,
        typer.Option(
            "--wait-minutes",
            min=0,
            help=(
                "Batch: with --wait, maximum minutes that the job can wait for its nodes. "
                "Default: 30."
            ),
        ),
    ] = None,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Generate a job for the stack: a manifest on standard output, Slurm scripts, or a request.

    EKS: pipe the manifest into `kubectl apply -f -`. ParallelCluster: copy the directory of scripts
    to the head node. Batch: the request is printed, or submitted with --submit.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    kind = found.architecture
    if name not in JOBS.get(kind, _EVERY_JOB):
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; available: "
            + (", ".join(JOBS.get(kind, _EVERY_JOB)) or "none")
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
            "--submit": submit or None,
            "--wait": wait or None,
            "--wait-minutes": wait_minutes,
        },
    }
    _refuse_foreign(given, kind or EKS, stack)
    if kind == BATCH:
        _batch_job(found, name, nodes, given[BATCH], sandbox=sandbox)
        return
    if kind != PARALLELCLUSTER:
        _print_manifest(found, name, group=group, nodes=nodes, namespace=namespace or "default")
        return
    if name != slurm_jobs.BERT_PRETRAINING:
        _refuse({"--scaling": scaling}, f"{name} is not a training job")
    from tools.jobs.slurm.nodes import SlurmRequest

    request = SlurmRequest(
        queue=queue,
        compute_resource=compute_resource,
        nodes=nodes,
        scaling=(scaling or Scaling.STRONG).value,
    )
    target = output or Path(f"{stack}-{name}")
    slurm_jobs.write_job(_parallelcluster_plan(found), name, request, target, force=force)


def _refuse_foreign(given: Mapping[str, Mapping[str, object]], kind: str, stack: str) -> None:
    for other, values in given.items():
        if other != kind:
            _refuse(values, f"{stack} is not a stack of {_TITLES[other]}")


def _batch_job(
    stack_file: StackFile,
    name: str,
    nodes: int | None,
    given: Mapping[str, Any],
    *,
    sandbox: bool,
) -> None:
    from tools.jobs.batch_request import BatchRequest

    if given["--wait"] and not given["--submit"]:
        raise failures.WrongUseError("--wait requires --submit")
    minutes = given["--wait-minutes"]
    if minutes is not None and not given["--wait"]:
        raise failures.WrongUseError("--wait-minutes requires --wait")
    test = batch_jobs.JOBS[batch_jobs.JOBS.index(name)]
    asked = BatchRequest(
        definition=given["--definition"],
        nodes=nodes,
        environment=batch_jobs.environment_of(given["--env"] or ()),
    )
    plan = _batch_plan(stack_file)
    if not given["--submit"]:
        batch_jobs.print_job(plan, test, asked)
        return
    limit = START_LIMIT_MINUTES if minutes is None else minutes
    wait = JobWait(start_limit_minutes=limit) if given["--wait"] else None
    batch_jobs.submit_job(plan, test, asked, stack_file=stack_file, sandbox=sandbox, wait=wait)


def _refuse(given: Mapping[str, object], reason: str) -> None:
    wrong = [option for option, value in given.items() if value is not None]
    if wrong:
        raise failures.WrongUseError(f"{reason}: omit {' and '.join(wrong)}")


def _print_manifest(
    stack_file: StackFile, name: str, *, group: str | None, nodes: int | None, namespace: str
) -> None:
    from tools.jobs.nodes import JobError, JobRequest

    try:
        request = JobRequest(group=group, nodes=nodes, namespace=namespace)
        console.answer_document(_renderers()[name](_eks_plan(stack_file), request))
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _eks_plan(stack_file: StackFile) -> EksPlan:
    from components.eks.plan import EksPlan
    from tools.cli.stack_config import plan_of

    plan = plan_of(stack_file)
    assert isinstance(plan, EksPlan)  # noqa: S101 - no other kind has these jobs
    return plan


def _batch_plan(stack_file: StackFile) -> BatchPlan:
    from components.batch.plan import BatchPlan
    from tools.cli.stack_config import plan_of

    plan = plan_of(stack_file)
    assert isinstance(plan, BatchPlan)  # noqa: S101 - no other kind has these jobs
    return plan


def _parallelcluster_plan(stack_file: StackFile) -> ParallelClusterPlan:
    from components.parallelcluster.plan import ParallelClusterPlan
    from tools.cli.stack_config import plan_of

    plan = plan_of(stack_file)
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - no other kind has these jobs
    return plan


def _renderers() -> Mapping[str, Renderer]:
    from tools.jobs.efa_smoke import render_efa_smoke
    from tools.jobs.nccl_tests import render_nccl_tests
    from tools.jobs.nccom_tests import render_nccom_tests

    return dict(
        zip(EKS_JOBS, (render_nccl_tests, render_nccom_tests, render_efa_smoke), strict=True)
    )
