"""The jobs of a ParallelCluster stack in Slurm: what there is, their logs, and how a job is ended.

All nodes and all runs of a job write into one file in the home directory of the head node, which
stays when Slurm has forgotten the job.

Source:
    https://slurm.schedmd.com/squeue.html (`--format`, `--states`)
    https://slurm.schedmd.com/scancel.html
    https://slurm.schedmd.com/sbatch.html (`--output`, `--open-mode`)
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from trainyard.cli import console, failures
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.schedulers.listed_job import ListedJob, sorted_jobs
from trainyard.schedulers.log_request import LogRequest
from trainyard.schedulers.slurm.job_wait import COMPLETED, FAILED_STATES, JobLog, Run, pause
from trainyard.schedulers.slurm.submission import JOBS_DIRECTORY, reached_head_node
from trainyard.workspace.target import Target

_JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_FIND = f"""\
path=$(scontrol --oneliner show job {{0}} 2> /dev/null | sed -n 's/.* StdOut=\\([^ ]*\\).*/\\1/p')
if [ -z "$path" ]; then
  cd ~/{JOBS_DIRECTORY} 2> /dev/null || exit 0
  path=$(ls -t */*-{{0}}.out */{{0}}-[0-9]*.out 2> /dev/null | head -n 1)
  path=${{{{path:+$PWD/$path}}}}
fi
echo "$path"
"""
"""Slurm knows a job by its id. Files have the name of their job and its id."""
_STATE = "squeue --noheader --states=all --format=%T --jobs={0} 2> /dev/null || true\n"


def slurm_log(run: Run, asked: LogRequest) -> Iterator[str]:
    """Yield the lines of the log of a job.

    Args:
        run: Runs a script on the head node.
        asked: What is wanted.

    Raises:
        WrongUseError: a single node, process or run is wanted, or the name is no job.
        CommandError: there is no log of the job.
    """
    if asked.node is not None or asked.rank is not None or asked.previous:
        raise failures.WrongUseError(
            "all nodes and all runs of a Slurm job write into one log: omit --node, --rank and "
            "--previous"
        )
    if not _JOB.fullmatch(asked.job):
        raise failures.WrongUseError(f"{asked.job!r} is no name or id of a Slurm job")
    path = run(_FIND.format(asked.job)).strip()
    if not path:
        raise failures.CommandError(
            f"there is no log of a job {asked.job} in ~/{JOBS_DIRECTORY} on the head node; jobs "
            "that wait have none yet"
        )
    lines: list[str] = []
    log = JobLog(run, asked.wait, show=lines.append)
    number = path.rpartition("-")[2].removesuffix(".out")
    while True:
        has_ended = not asked.follow or _has_ended(run(_STATE.format(number)))
        (log.print_rest if has_ended else log.print_new)({"StdOut": path})
        yield from lines
        lines.clear()
        if has_ended:
            return
        pause(asked.wait)


def _has_ended(state: str) -> bool:
    """Return whether a job has ended; Slurm forgets it five minutes later."""
    return state.strip() in {"", "COMPLETED", *FAILED_STATES}


_COLUMNS = "%i|%T|%D|%S|%e|%j"
"""Id, state, nodes, start, end and name; the name comes last, because it can contain anything.

`squeue --json` needs no separators, but Systems Manager returns 24,000 characters, and a job has
about 7,000 there.
"""


@contextmanager
def slurm_jobs(plan: ParallelClusterPlan, target: Target) -> Iterator[SlurmJobs]:
    """Give the jobs of a cluster.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: there is no head node, or it cannot be reached.
    """
    with reached_head_node(plan, target) as head_node:
        yield SlurmJobs(head_node.run)


@dataclass(frozen=True, slots=True)
class SlurmJobs:
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
        return sorted_jobs([_listed(each) for each in jobs])

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of its file, also of a job that Slurm has forgotten."""
        return slurm_log(self.run, asked)

    def cancel(self, job: ListedJob) -> None:
        """Cancel a job."""
        self.run(f"scancel {shlex.quote(job.id)}\n")


def _listed(shown: str) -> ListedJob:
    identifier, state, nodes, started, ended, name = shown.removesuffix("\n").split("|", 5)
    has_ended = state == COMPLETED or state in FAILED_STATES
    return ListedJob(
        id=identifier,
        name=name,
        state=state,
        nodes=int(nodes) if nodes.isdigit() else None,
        # Slurm estimates the start and the end of jobs that wait or run.
        started=_time(started) if state != "PENDING" else None,
        ended=_time(ended) if has_ended else None,
        has_ended=has_ended,
    )


def _time(text: str) -> datetime | None:
    """Return a time of the head node, whose clock is in UTC."""
    return None if text in ("N/A", "Unknown", "") else datetime.fromisoformat(f"{text}+00:00")
