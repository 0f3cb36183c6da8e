"""`logs STACK JOB`: the log of a job, whatever its scheduler is."""

from __future__ import annotations

from collections.abc import Iterator

import boto3

from components.account.call_failures import CLIENT
from tools.cli import console
from tools.cli.batch_job_logs import batch_log
from tools.cli.eks_job_logs import eks_log
from tools.cli.job_list import plan_with_jobs
from tools.cli.log_request import LogRequest, newest_of
from tools.cli.schedulers import (
    BatchScheduler,
    EksScheduler,
    Scheduler,
    SlurmScheduler,
    scheduler_of,
)
from tools.cli.slurm_job_logs import slurm_log
from tools.workspace.stack_files import StackFile


def print_job_log(stack_file: StackFile, asked: LogRequest, *, sandbox: bool) -> None:
    """Print the log of a job.

    Raises:
        WrongUseError: there are no credentials, or no such job, node or process.
        CommandError: the stack is not deployed, the scheduler does not respond, or there is no log.
    """
    plan = plan_with_jobs(stack_file)
    with scheduler_of(plan, stack_file, sandbox=sandbox) as scheduler:
        for line in _lines(scheduler, asked, stack_file.region):
            console.answer(line)


def _lines(scheduler: Scheduler, asked: LogRequest, region: str) -> Iterator[str]:
    if isinstance(scheduler, SlurmScheduler):
        return slurm_log(scheduler.run, asked)
    job = newest_of(asked.job, scheduler.jobs())
    if isinstance(scheduler, EksScheduler):
        return eks_log(scheduler.api, job, asked)
    assert isinstance(scheduler, BatchScheduler)  # noqa: S101 - there is no other scheduler
    return batch_log(
        scheduler.batch, boto3.client("logs", region_name=region, config=CLIENT), job, asked
    )
