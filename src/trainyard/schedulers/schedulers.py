"""The jobs of a stack in its scheduler: what there is, their logs, and how a job is ended.

Source:
    https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/
    https://slurm.schedmd.com/squeue.html (`--format`, `--states`), https://slurm.schedmd.com/scancel.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_ListJobs.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_TerminateJob.html: ends a job in any
        state; CancelJob does not end one that starts or runs
"""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError
from kubernetes import client

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import explained
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.diagnosis.waiting_job import ENDED, UNFINISHED
from trainyard.schedulers.batch.job_logs import batch_log
from trainyard.schedulers.batch.submission import short_name
from trainyard.schedulers.kubernetes.cluster import reached_cluster
from trainyard.schedulers.kubernetes.job_logs import kubernetes_log
from trainyard.schedulers.kubernetes.submission import MANAGED_SELECTOR
from trainyard.schedulers.kubernetes.workloads import (
    Workload,
    delete_workload,
    find_workload,
    list_workloads,
)
from trainyard.schedulers.listed_job import ListedJob
from trainyard.schedulers.log_request import LogRequest, newest_of
from trainyard.schedulers.slurm.job_logs import slurm_log
from trainyard.schedulers.slurm.job_wait import COMPLETED, FAILED_STATES, Run
from trainyard.schedulers.slurm.submission import reached_head_node
from trainyard.workspace.target import Target

_MOST_JOBS = 100
"""Jobs of one queue and state that are listed, the newest."""
_COLUMNS = "%i|%T|%D|%S|%e|%j"
"""Id, state, nodes, start, end and name; the name comes last, because it can contain anything.

`squeue --json` needs no separators, but Systems Manager returns 24,000 characters, and a job has
about 7,000 there.
"""


class Scheduler(Protocol):
    """The scheduler of a deployed stack."""

    def jobs(self) -> list[ListedJob]:
        """Return the jobs that it knows, those that have not ended first."""
        ...

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of the log of a job.

        Raises:
            WrongUseError: there is no such job, node or process.
            CommandError: there is no log, or it cannot be read.
        """
        ...

    def cancel(self, job: ListedJob) -> None:
        """End a job that has not ended."""
        ...


@contextmanager
def scheduler_of(
    plan: EksPlan | ParallelClusterPlan | BatchPlan, target: Target
) -> Iterator[Scheduler]:
    """Give the scheduler of a stack.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the stack is not deployed, or its scheduler refuses a request or does not
            respond.
    """
    if isinstance(plan, EksPlan):
        with reached_cluster(target) as api:
            yield EksScheduler(api)
    elif isinstance(plan, ParallelClusterPlan):
        with reached_head_node(plan, target) as head_node:
            yield SlurmScheduler(head_node.run)
    else:
        with target.access():
            try:
                batch, logs = target.client("batch"), target.client("logs")
                yield BatchScheduler(batch, logs, plan.queue_names)
            except (BotoCoreError, ClientError) as error:
                raise failures.CommandError(explained("batch:ListJobs", error)) from error


@dataclass(frozen=True, slots=True)
class EksScheduler:
    """The jobs that `job` and `run` have created in a cluster, in all namespaces."""

    api: client.ApiClient

    def jobs(self) -> list[ListedJob]:
        """Return the jobs."""
        listed = list_workloads(self.api, MANAGED_SELECTOR)
        return _sorted([_of_kubernetes(each) for each in listed])

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of the logs of its pods."""
        return kubernetes_log(self.api, newest_of(asked.job, self.jobs()), asked)

    def cancel(self, job: ListedJob) -> None:
        """Delete a job with its pods and objects."""
        namespace, _, name = job.id.partition("/")
        found = find_workload(self.api, namespace, name)
        if found is not None:
            delete_workload(self.api, found)


def _of_kubernetes(job: Workload) -> ListedJob:
    end = job.end
    if end is not None:
        state = "Complete" if job.failure is None else "Failed"
    elif job.is_being_deleted:
        state = "Terminating"
    elif job.is_suspended:
        state = "Queued"
    else:
        state = "Running" if job.is_ready else "Pending"
    return ListedJob(
        id=f"{job.namespace}/{job.name}",
        name=job.name,
        state=state,
        nodes=job.job_spec["completions"],
        started=job.started_at,
        ended=job.ended_at,
        has_ended=end is not None or state == "Terminating",
    )


@dataclass(frozen=True, slots=True)
class SlurmScheduler:
    """All jobs of a cluster that Slurm has not forgotten: `MinJobAge`, by default five minutes."""

    run: Run

    def jobs(self) -> list[ListedJob]:
        """Return the jobs of all users, or the newest of them if there are very many."""
        # The name of a job can contain line breaks. Each job begins with a text that nobody can
        # know when a job is named.
        begin = secrets.token_hex(8)
        columns = shlex.quote(begin + _COLUMNS)
        shown = self.run(
            f"squeue --states=all --noheader --sort=-i --format={columns}\necho {begin}\n"
        )
        _, *jobs, last = shown.split(begin)
        if last.strip():
            console.progress(f"only the newest {len(jobs)} jobs are listed")
        return _sorted([_of_slurm(each) for each in jobs])

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of its file, also of a job that Slurm has forgotten."""
        return slurm_log(self.run, asked)

    def cancel(self, job: ListedJob) -> None:
        """Cancel a job."""
        self.run(f"scancel {shlex.quote(job.id)}\n")


def _of_slurm(shown: str) -> ListedJob:
    identifier, state, nodes, started, ended, name = shown.removesuffix("\n").split("|", 5)
    has_ended = state == COMPLETED or state in FAILED_STATES
    return ListedJob(
        id=identifier,
        name=name,
        state=state,
        nodes=int(nodes) if nodes.isdigit() else None,
        # Slurm estimates the start and the end of jobs that wait or run.
        started=_slurm_time(started) if state != "PENDING" else None,
        ended=_slurm_time(ended) if has_ended else None,
        has_ended=has_ended,
    )


def _slurm_time(text: str) -> datetime | None:
    """Return a time of the head node, whose clock is in UTC."""
    return None if text in ("N/A", "Unknown", "") else datetime.fromisoformat(f"{text}+00:00")


@dataclass(frozen=True, slots=True)
class BatchScheduler:
    """The jobs in the queues of a stack."""

    batch: Any
    """A boto3 client."""
    logs: Any
    """A boto3 client of CloudWatch Logs."""
    queues: Sequence[str]

    def jobs(self) -> list[ListedJob]:
        """Return the jobs of all states; Batch keeps those that have ended for some days."""
        pages = self.batch.get_paginator("list_jobs")
        return _sorted(
            [
                _of_batch(each)
                for queue in self.queues
                for state in (*UNFINISHED, *ENDED)
                for page in pages.paginate(
                    jobQueue=queue, jobStatus=state, PaginationConfig={"MaxItems": _MOST_JOBS}
                )
                for each in page["jobSummaryList"]
            ]
        )

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of the log streams of its nodes."""
        return batch_log(self.batch, self.logs, newest_of(asked.job, self.jobs()), asked)

    def cancel(self, job: ListedJob) -> None:
        """Terminate a job and all of its nodes."""
        self.batch.terminate_job(jobId=job.id, reason="cancelled with trainyard")


def _of_batch(job: dict[str, Any]) -> ListedJob:
    return ListedJob(
        id=job["jobId"],
        name=job["jobName"],
        short_name=short_name(job["jobName"]),
        state=job["status"],
        nodes=(job.get("nodeProperties") or {}).get("numNodes", 1),
        started=_batch_time(job.get("startedAt")),
        ended=_batch_time(job.get("stoppedAt")),
        has_ended=job["status"] in ENDED,
    )


def _batch_time(milliseconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _sorted(jobs: list[ListedJob]) -> list[ListedJob]:
    """Return jobs that have not ended first, and then the newest first."""
    never = datetime.min.replace(tzinfo=UTC)
    newest = sorted(jobs, key=lambda each: each.started or never, reverse=True)
    return sorted(newest, key=lambda each: each.has_ended)
