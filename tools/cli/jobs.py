"""`job`: what to submit to a stack, generated from its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tools.cli import console, failures, options

if TYPE_CHECKING:
    from collections.abc import Callable

    from components.eks.plan import EksPlan


def job(
    stack: options.Stack,
    name: Annotated[str, typer.Argument(help="Which job: efa-smoke.")],
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Print a job for the stack's cluster; pipe it into `kubectl apply -f -`."""
    make = _jobs().get(name)
    if make is None:
        raise failures.WrongUseError(
            f"there is no job {name!r} for {stack}; there is: {', '.join(_jobs())}"
        )
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    from tools.cli.checks import plan_of

    console.answer(make(plan_of(found)))


def _jobs() -> dict[str, Callable[[EksPlan], str]]:
    from tools.cli.efa_smoke_job import render_efa_smoke_job

    return {"efa-smoke": render_efa_smoke_job}
