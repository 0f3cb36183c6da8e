"""`job`: what to submit to a stack, generated from its plan."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tools.cli import console, failures, options, slurm_jobs
from tools.workspace.stack_files import EKS, PARALLELCLUSTER

if TYPE_CHECKING:
    from components.eks.plan import EksPlan
    from components.parallelcluster.plan import ParallelClusterPlan
    from tools.jobs.nodes import Renderer
    from tools.workspace.stack_files import StackFile

EKS_JOBS = ("nccl-tests", "nccom-tests", "efa-smoke")
JOBS: Mapping[str, tuple[str, ...]] = {EKS: EKS_JOBS, PARALLELCLUSTER: slurm_jobs.JOBS}
"""Jobs by the kind of a stack's architecture."""
_EVERY_JOB = tuple(dict.fromkeys(job for jobs in JOBS.values() for job in jobs))


class Scaling(StrEnum):
    """What more nodes do to a training job."""

    STRONG = "strong"
    WEAK = "weak"


def job(
    stack: options.Stack,
    name: Annotated[str, typer.Argument(help=f"Which job: {', '.join(_EVERY_JOB)}.")],
    nodes: Annotated[
        int | None,
        typer.Option(
            "--nodes",
            min=1,
            help="How many nodes; if not set, all that the group wants, or that Slurm may have.",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="EKS: node group; needed where several fit.")
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="EKS: namespace, which must exist; default if not."),
    ] = None,
    queue: Annotated[
        str | None, typer.Option("--queue", help="Slurm: queue; needed where several fit.")
    ] = None,
    compute_resource: Annotated[
        str | None,
        typer.Option("--compute-resource", help="Slurm: needed where several of a queue fit."),
    ] = None,
    scaling: Annotated[
        Scaling | None,
        typer.Option(
            "--scaling", help="bert-pretraining: keep the global batch (strong), or grow it (weak)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Slurm: directory to write; ./<stack>-<job> if not."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Slurm: write into a directory that is not empty.")
    ] = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Generate a job for the stack's cluster: a manifest on standard output, or Slurm scripts.

    An EKS stack's manifest is piped into `kubectl apply -f -`; a ParallelCluster stack's scripts
    are written into a directory to copy to the head node.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    kind = found.architecture
    if name not in JOBS.get(kind, _EVERY_JOB):
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; there is: "
            + ", ".join(JOBS.get(kind, _EVERY_JOB))
        )
    slurm_options = {
        "--queue": queue,
        "--compute-resource": compute_resource,
        "--scaling": scaling,
        "--output": output,
        "--force": force or None,
    }
    if kind != PARALLELCLUSTER:
        _refuse(slurm_options, f"{stack} is no ParallelCluster stack")
        _print_manifest(found, name, group=group, nodes=nodes, namespace=namespace or "default")
        return
    _refuse({"--group": group, "--namespace": namespace}, f"{stack} is no EKS stack")
    if name != slurm_jobs.BERT_PRETRAINING:
        _refuse({"--scaling": scaling}, f"{name} trains nothing")
    from tools.jobs.slurm.nodes import SlurmRequest

    request = SlurmRequest(
        queue=queue,
        compute_resource=compute_resource,
        nodes=nodes,
        scaling=(scaling or Scaling.STRONG).value,
    )
    target = output or Path(f"{stack}-{name}")
    slurm_jobs.write_job(_parallelcluster_plan(found), name, request, target, force=force)


def _refuse(given: Mapping[str, object], reason: str) -> None:
    wrong = [option for option, value in given.items() if value is not None]
    if wrong:
        raise failures.WrongUseError(f"{reason}: leave out {' and '.join(wrong)}")


def _print_manifest(
    stack_file: StackFile, name: str, *, group: str | None, nodes: int | None, namespace: str
) -> None:
    from tools.jobs.nodes import JobError, JobRequest

    request = JobRequest(group=group, nodes=nodes, namespace=namespace)
    try:
        console.answer(_renderers()[name](_eks_plan(stack_file), request))
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _eks_plan(stack_file: StackFile) -> EksPlan:
    from components.eks.plan import EksPlan
    from tools.cli.checks import plan_of

    plan = plan_of(stack_file)
    assert isinstance(plan, EksPlan)  # noqa: S101 - no other kind has these jobs
    return plan


def _parallelcluster_plan(stack_file: StackFile) -> ParallelClusterPlan:
    from components.parallelcluster.plan import ParallelClusterPlan
    from tools.cli.checks import plan_of

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
