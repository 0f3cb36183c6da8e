"""`cancel`: end one job of a stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from trainyard.cli import console, failures, options
from trainyard.components.plain_text import printable
from trainyard.schedulers.deployed_stack import NO_JOBS, deployed_stack
from trainyard.schedulers.listed_job import ListedJob


def cancel(
    context: typer.Context,
    stack: options.Stack,
    job: Annotated[str, typer.Argument(help="Name or id of a job that has not ended.")],
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """End one job of a stack.

    EKS: the job is deleted with its pods and objects. Slurm: scancel. Batch: TerminateJob.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, target)
    with deployed.scheduler(network=NO_JOBS).submitted() as submitted:
        chosen = _chosen(job, submitted.jobs(), stack)
        submitted.cancel(chosen)
    console.progress(f"cancelled {chosen.id} ({printable(chosen.name)}), which was {chosen.state}")


def _chosen(job: str, listed: Sequence[ListedJob], stack: str) -> ListedJob:
    """Return the only job that is meant.

    Raises:
        WrongUseError: there is none, it has ended, or several have the name.
    """
    meant = [each for each in listed if each.is_called(job)]
    running = [each for each in meant if not each.has_ended]
    if len(running) == 1:
        return running[0]
    if running:
        ids = ", ".join(each.id for each in running)
        raise failures.WrongUseError(f"{stack} has several jobs {job}; name one by id: {ids}")
    if meant:
        raise failures.WrongUseError(f"the job {job} of {stack} is {meant[0].state}")
    others = ", ".join(each.id for each in listed if not each.has_ended)
    raise failures.WrongUseError(f"{stack} has no job {job}; not ended: {others or 'none'}")
