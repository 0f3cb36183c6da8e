"""`job --submit --wait` for Slurm: follows a job on the head node, and prints its log.

Source:
    https://slurm.schedmd.com/scontrol.html: `show job`; Slurm forgets a job `MinJobAge` seconds
        after its end (https://slurm.schedmd.com/slurm.conf.html), by default 300
    https://slurm.schedmd.com/job_state_codes.html
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from tools.cli import console, failures
from tools.cli.job_wait import JobWait

POLL_SECONDS = 15
"""Each look at the job is a command of Systems Manager, which takes seconds."""
LOG_BYTES = 20_000
"""End of the log that is printed; Systems Manager returns 24,000 characters at most."""
_WAITING = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"})
_FAILED = frozenset(
    {
        *("BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "LAUNCH_FAILED", "NODE_FAIL"),
        *("OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"),
    }
)
_FIELD = re.compile(r"(\w+)=(\S*)")

Run = Callable[[str], str]
"""Runs a script on the head node, and returns its standard output."""


def wait_for(run: Run, job_id: str, wait: JobWait) -> None:
    """Report the states of a job until it ends, why it waits, and print the end of its log.

    Args:
        run: Runs a script on the head node.
        job_id: Id of the Slurm job.
        wait: Limits and clock.

    Raises:
        CommandError: the job failed or did not start within the limit. In the second case, it stays
            in the queue.
    """
    began, told = wait.now(), ""
    while True:
        fields = _fields(run(f"scontrol --oneliner show job {job_id}\n"))
        state, reason = fields.get("JobState", ""), fields.get("Reason", "None")
        said = f"Slurm job {job_id} is {state}" + (f": {reason}" if reason != "None" else "")
        if said != told:
            told = said
            console.progress(said)
        if state == "COMPLETED" or state in _FAILED:
            break
        if state in _WAITING and wait.now() - began >= wait.start_limit_minutes * 60:
            raise failures.CommandError(
                f"after {wait.start_limit_minutes:g} minutes, {said}; it stays in the queue until "
                "it starts or is cancelled; wait longer with --wait-minutes"
            )
        wait.pause(POLL_SECONDS)
    log = shlex.quote(fields.get("StdOut", ""))
    console.answer(run(f"[ ! -f {log} ] || tail -c {LOG_BYTES} -- {log}\n"))
    if state in _FAILED:
        code = fields.get("ExitCode", "")
        raise failures.CommandError(f"{said}, exit code {code.partition(':')[0]}")


def _fields(shown: str) -> dict[str, str]:
    """Return the fields of `scontrol --oneliner show job`, of which the first value counts."""
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(shown):
        found.setdefault(name, value)
    return found
