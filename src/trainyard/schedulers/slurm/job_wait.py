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
from dataclasses import dataclass

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console, failures
from trainyard.components.account.call_failures import is_transient
from trainyard.diagnosis.job_log import LogEnd, sections
from trainyard.schedulers.job_wait import JobWait, look_again

_POLLS = 3
"""Each look at the job is a command of Systems Manager, which takes seconds: it is looked at less
often than an API is."""
LOG_BYTES, LOG_LINES = 20_000, 200
"""Part of a log that one command reads; Systems Manager returns 24,000 characters at most."""
MOST_LINES = 2000
"""Lines of a log that are printed at once; older ones are left out, because each part takes
seconds."""
WAITING_STATES = frozenset(
    {
        *("CONFIGURING", "EXPEDITING", "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD"),
        *("RESV_DEL_HOLD", "SPECIAL_EXIT"),
    }
)
COMPLETED = "COMPLETED"
FAILED_STATES = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
        *("PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
"""Ends of a job that has not completed. `LAUNCH_FAILED` is a flag, which is never shown alone.

`job_state_string` in
https://github.com/SchedMD/slurm/blob/slurm-25-05-3-1/src/common/slurm_protocol_defs.c
"""
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
    """Follow a job and the jobs that it depends on, and print its log while it runs.

    Args:
        run: Runs a script on the head node.
        job_id: Id of the Slurm job.
        wait: Limits and clock. The start limit applies to each job, from the end of the previous
            one.

    Raises:
        JobFailedError: a job failed, after its log was printed.
        CommandError: a job did not start within the limit; the jobs stay in the queue.
    """
    for each in _chain(run, job_id, wait):
        end = LogEnd()
        log = JobLog(run, wait, end.kept(wait.show))
        ended = _wait_for_one(run, each, wait, log if each == job_id else None)
        has_failed = ended["JobState"] in FAILED_STATES
        if has_failed or each == job_id:
            log.print_rest(ended)
        if has_failed:
            code, state = _exit_code(ended), _state(each, ended)
            more = sections(state, "slurm", end.error)
            said = "\n  ".join([f"{state}, exit code {code}", *more])
            raise failures.JobFailedError(said, code)


def _exit_code(fields: Mapping[str, str]) -> int:
    """Return the exit code of a job that has failed, as a shell would: 128 and a signal's number.

    https://slurm.schedmd.com/job_exit_code.html
    """
    if fields["JobState"] in ("TIMEOUT", "DEADLINE"):
        return failures.TIMED_OUT
    code, _, signal = fields.get("ExitCode", "0:0").partition(":")
    return int(code) or (128 + int(signal) if int(signal or 0) else 0)


@dataclass(slots=True)
class JobLog:
    """The log of a job, which is printed line by line as it grows."""

    run: Run
    wait: JobWait
    show: Callable[[str], object]
    """Prints lines."""
    printed: int = 0
    """Number of lines that were printed or left out."""

    def print_new(self, fields: Mapping[str, str]) -> None:
        """Print the complete lines that are new."""
        while self._print_part(fields):
            pass

    def print_rest(self, fields: Mapping[str, str]) -> None:
        """Print the new lines of a job that has ended, also a last one without its end."""
        self.print_new(fields)
        path = shlex.quote(fields.get("StdOut", ""))
        start = self.printed + 1
        script = f"[ ! -f {path} ] || tail -n +{start} -- {path} | head -c {LOG_BYTES}\n"
        last = look_again(lambda: self.run(script), self.wait, _transient)
        if last.strip():
            self.show(last.rstrip("\n"))

    def _print_part(self, fields: Mapping[str, str]) -> bool:
        """Print at most `LOG_LINES`; return whether there are more."""
        path = shlex.quote(fields.get("StdOut", ""))
        script = (
            f"[ -f {path} ] || exit 0\nlines=$(wc -l < {path})\necho $lines\n"
            f"from=$((lines - {MOST_LINES})); [ $from -gt {self.printed} ] || from={self.printed}\n"
            f"echo $from\ntail -n +$((from + 1)) -- {path} | head -n {LOG_LINES} "
            f"| head -c {LOG_BYTES}\n"
        )
        said = look_again(lambda: self.run(script), self.wait, _transient)
        if not said:
            return False
        lines, first, text = said.split("\n", 2)
        if int(first) > self.printed:
            left_out = int(first) - self.printed
            console.progress(f"{left_out} lines are left out; the log is {path} on the head node")
        complete = text.rpartition("\n")[0]
        if not complete:
            return False
        self.show(complete)
        self.printed = int(first) + complete.count("\n") + 1
        return self.printed < int(lines)


def _chain(run: Run, job_id: str, wait: JobWait) -> list[str]:
    """Return the ids of the job and of the unfinished jobs before it, in the order they run."""
    chain = [job_id]
    while previous := _PREVIOUS.match(_look(run, chain[0], wait).get("Dependency", "")):
        chain.insert(0, previous[1])
    return chain


def _wait_for_one(run: Run, job_id: str, wait: JobWait, log: JobLog | None) -> dict[str, str]:
    """Report the states of a job until it ends, and return its fields."""
    began, told = wait.now(), ""
    while True:
        fields = _look(run, job_id, wait)
        state, said = fields.get("JobState", ""), _state(job_id, fields)
        if said != told:
            told = said
            console.progress(said)
        if state == COMPLETED or state in FAILED_STATES:
            return fields
        if log is not None and state == "RUNNING":
            log.print_new(fields)
        if state in WAITING_STATES and wait.now() - began >= wait.start_limit_minutes * 60:
            raise failures.CommandError(
                f"after {wait.start_limit_minutes:g} minutes, {said}; it stays in the queue until "
                "it starts or is cancelled; wait longer with --wait-minutes"
            )
        pause(wait)


def pause(wait: JobWait) -> None:
    """Wait until the next look at a job."""
    wait.pause(_POLLS * wait.poll_seconds)


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
