"""Waiting for a Slurm job: follows it on the head node, and prints its log.

Source:
    https://slurm.schedmd.com/scontrol.html: `show job`; Slurm forgets a job `MinJobAge` seconds
        after its end (https://slurm.schedmd.com/slurm.conf.html), by default 300
    https://slurm.schedmd.com/job_state_codes.html
    https://slurm.schedmd.com/sbatch.html#OPT_dependency
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping

from botocore.exceptions import BotoCoreError, ClientError

from components.account.call_failures import is_transient
from tools.cli import console, failures
from tools.cli.job_wait import JobWait, look_again

POLL_SECONDS = 15
"""Each look at the job is a command of Systems Manager, which takes seconds."""
LOG_BYTES = 20_000
"""End of the log that is printed; Systems Manager returns 24,000 characters at most."""
_WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})
FAILED_STATES = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "LAUNCHFAILED_STATES", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
_NO_CONTROLLER = "Unable to contact slurm controller"
"""slurmctld restarts, for example during an update of the cluster.
`slurm_errtab` in https://github.com/SchedMD/slurm/blob/master/src/common/slurm_errno.c"""
_FIELD = re.compile(r"(\w+)=(\S*)")
_PREVIOUS = re.compile(r"after\w*:(\d+)")
"""The first job in `Dependency`, as in `afterok:11(unfulfilled)`; `(null)` if none is left.
`_depend_list2str` in https://github.com/SchedMD/slurm/blob/master/src/slurmctld/job_scheduler.c"""

Run = Callable[[str], str]
"""Runs a script on the head node, and returns its standard output."""


def wait_for(run: Run, job_id: str, wait: JobWait) -> None:
    """Follow a job and the jobs that it depends on, and print the end of its log.

    Args:
        run: Runs a script on the head node.
        job_id: Id of the Slurm job.
        wait: Limits and clock. The start limit applies to each job, from the end of the previous
            one.

    Raises:
        CommandError: a job failed, after the end of its log was printed, or did not start within
            the limit. In the second case, the jobs stay in the queue.
    """
    for each in _chain(run, job_id, wait):
        ended = _wait_for_one(run, each, wait)
        has_failed = ended["JobState"] in FAILED_STATES
        if has_failed or each == job_id:
            log = shlex.quote(ended.get("StdOut", ""))
            wait.show(run(f"[ ! -f {log} ] || tail -c {LOG_BYTES} -- {log}\n"))
        if has_failed:
            code = ended.get("ExitCode", "").partition(":")[0]
            raise failures.CommandError(f"{_state(each, ended)}, exit code {code}")


def _chain(run: Run, job_id: str, wait: JobWait) -> list[str]:
    """Return the ids of the job and of the unfinished jobs before it, in the order they run."""
    chain = [job_id]
    while previous := _PREVIOUS.match(_look(run, chain[0], wait).get("Dependency", "")):
        chain.insert(0, previous[1])
    return chain


def _wait_for_one(run: Run, job_id: str, wait: JobWait) -> dict[str, str]:
    """Report the states of a job until it ends, and return its fields."""
    began, told = wait.now(), ""
    while True:
        fields = _look(run, job_id, wait)
        state, said = fields.get("JobState", ""), _state(job_id, fields)
        if said != told:
            told = said
            console.progress(said)
        if state == "COMPLETED" or state in FAILED_STATES:
            return fields
        if state in _WAITING and wait.now() - began >= wait.start_limit_minutes * 60:
            raise failures.CommandError(
                f"after {wait.start_limit_minutes:g} minutes, {said}; it stays in the queue until "
                "it starts or is cancelled; wait longer with --wait-minutes"
            )
        wait.pause(POLL_SECONDS)


def _state(job_id: str, fields: Mapping[str, str]) -> str:
    reason = fields.get("Reason", "None")
    because = f": {reason}" if reason != "None" else ""
    return f"Slurm job {job_id} ({fields.get('JobName', '')}) is {fields.get('JobState')}{because}"


def _look(run: Run, job_id: str, wait: JobWait) -> dict[str, str]:
    show = f"scontrol --oneliner show job {job_id}\n"
    return _fields(look_again(lambda: run(show), wait, _transient))


def _transient(error: Exception) -> str:
    if isinstance(error, BotoCoreError | ClientError):
        return str(error) if is_transient(error) else ""
    return str(error) if _NO_CONTROLLER in str(error) else ""


def _fields(shown: str) -> dict[str, str]:
    """Return the fields of `scontrol --oneliner show job`, of which the first value counts."""
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(shown):
        found.setdefault(name, value)
    return found
