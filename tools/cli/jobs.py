"""`job`: what to submit to a stack, generated from its plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from tools.cli import console, failures, options

if TYPE_CHECKING:
    from tools.jobs.nodes import Renderer

JOBS = ("nccl-tests", "nccom-tests", "efa-smoke")


def job(
    stack: options.Stack,
    name: Annotated[str, typer.Argument(help=f"Which job: {', '.join(JOBS)}.")],
    group: Annotated[
        str | None, typer.Option("--group", help="Node group; needed where several fit.")
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", min=1, help="How many nodes; all that the group wants if not set."),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="Kubernetes namespace; it must exist.")
    ] = "default",
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Print a job for the stack's cluster; pipe it into `kubectl apply -f -`."""
    render = _renderers().get(name)
    if render is None:
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; there is: {', '.join(JOBS)}"
        )
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    from tools.cli.checks import plan_of
    from tools.jobs.nodes import JobError, JobRequest

    request = JobRequest(group=group, nodes=nodes, namespace=namespace)
    try:
        console.answer(render(plan_of(found), request))
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def _renderers() -> Mapping[str, Renderer]:
    from tools.jobs.efa_smoke import render_efa_smoke
    from tools.jobs.nccl_tests import render_nccl_tests
    from tools.jobs.nccom_tests import render_nccom_tests

    return dict(zip(JOBS, (render_nccl_tests, render_nccom_tests, render_efa_smoke), strict=True))
