"""`jobs` and `cancel`: the jobs of a deployed stack."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.components import clock
from trainyard.components.plain_text import printable
from trainyard.progress.durations import duration
from trainyard.schedulers.deployed_stack import deployed_stack
from trainyard.schedulers.listed_job import ListedJob
from trainyard.stack_files.stack_config import kind_of, plan_of
from trainyard.stack_files.stack_files import NETWORK, StackFile

_HEADER = ("ID", "NAME", "STATE", "NODES", "STARTED", "TIME")


def jobs(
    context: typer.Context,
    stack: options.Stack,
    as_json: options.AsJson = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """List the jobs of a stack, those that have not ended first.

    EKS: the jobs of `job` and `run`. Slurm and Batch: all jobs that the scheduler has not
    forgotten.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, found, sandbox=sandbox)
    with deployed.scheduler(plan_with_jobs(found)) as scheduler:
        listed = scheduler.jobs()
    if as_json:
        console.answer_json([_as_json(each) for each in listed])
    elif listed:
        _show(listed)
    else:
        console.progress(f"{stack} has no jobs")


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
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, found, sandbox=sandbox)
    with deployed.scheduler(plan_with_jobs(found)) as scheduler:
        chosen = _chosen(job, scheduler.jobs(), stack)
        scheduler.cancel(chosen)
    console.progress(f"cancelled {chosen.id} ({printable(chosen.name)}), which was {chosen.state}")


def plan_with_jobs(stack_file: StackFile) -> Any:
    """Return the plan of a stack that runs jobs.

    Raises:
        WrongUseError: it is a network.
    """
    if kind_of(stack_file) == NETWORK:
        raise failures.WrongUseError(f"{stack_file.stack} is a network, and runs no jobs")
    return plan_of(stack_file)


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


def _show(listed: Sequence[ListedJob]) -> None:
    rows = [_HEADER, *(_row(each) for each in listed)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    for row in rows:
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        console.answer("  ".join(cells).rstrip())


def _row(job: ListedJob) -> tuple[str, ...]:
    nodes = "" if job.nodes is None else str(job.nodes)
    started = f"{job.started:%Y-%m-%d %H:%M}" if job.started else ""
    until = job.ended or clock.now()
    took = duration((until - job.started).total_seconds()) if job.started else ""
    return (*map(printable, (job.id, job.name, job.state)), nodes, started, took)


def _as_json(job: ListedJob) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in dataclasses.asdict(job).items()
    }
