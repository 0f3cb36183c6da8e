"""`jobs`: list the jobs of a deployed stack."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import typer

from trainyard.cli import console, options
from trainyard.components import clock
from trainyard.components.plain_text import printable
from trainyard.progress.durations import duration
from trainyard.schedulers.deployed_stack import NO_JOBS, deployed_stack
from trainyard.schedulers.listed_job import ListedJob

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
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    deployed = deployed_stack(context, target)
    with deployed.scheduler(network=NO_JOBS).submitted() as submitted:
        listed = submitted.jobs()
    if as_json:
        console.answer_json([_as_json(each) for each in listed])
    elif listed:
        _show(listed)
    else:
        console.progress(f"{stack} has no jobs")


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
