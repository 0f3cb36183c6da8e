"""`logs STACK JOB` for Slurm: the output file of a job, in the home directory of the head node.

All nodes and all runs of a job write into one file, which stays when Slurm has forgotten the job.

Source:
    https://slurm.schedmd.com/sbatch.html (`--output`, `--open-mode`)
    https://slurm.schedmd.com/squeue.html (`--states`)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.cli import failures
from trainyard.schedulers.log_request import LogRequest
from trainyard.schedulers.slurm.job_wait import FAILED_STATES, JobLog, Run, pause
from trainyard.schedulers.slurm.submission import JOBS_DIRECTORY

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
