"""The parts of a bundle of `diagnose` about a Slurm cluster: its failures and its head node."""

from __future__ import annotations

import secrets

from trainyard.components import clock
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.diagnosis.bundle import Bundle, add_events, add_head_node
from trainyard.diagnosis.job_log import error_in
from trainyard.schedulers.slurm.job_wait import COMPLETED, WAITING_STATES, Run
from trainyard.schedulers.slurm.submission import JOBS_DIRECTORY, reached_head_node
from trainyard.workspace.target import Target

_MOST_LOGS = 5
_LOG_BYTES = 4000
"""Systems Manager returns 24,000 characters at most."""
_LOG_ENDS = f"""\
cd ~/{JOBS_DIRECTORY} 2> /dev/null || exit 0
for path in $(ls -t */*.out 2> /dev/null | head -n {_MOST_LOGS}); do
  name=${{path##*/}}
  name=${{name%.out}}
  state=$(squeue --noheader --states=all --format=%T --jobs="${{name##*-}}" 2> /dev/null || true)
  echo "{{0}} $name ${{state:-unknown}}"
  tail -c {_LOG_BYTES} -- "$path"
  echo
done
"""
"""The ends of the newest logs, after a line with name and state. Slurm forgets a job five minutes
after its end; its file stays."""
_NOT_FAILED = frozenset({COMPLETED, "COMPLETING", "RUNNING", "SUSPENDED", *WAITING_STATES})


def diagnose(bundle: Bundle, plan: ParallelClusterPlan, target: Target) -> None:
    """Add the events of CloudFormation, and what the head node says.

    Args:
        bundle: What is written.
        plan: Plan of the stack.
        target: The stack and its account.
    """
    add_events(bundle, target.client("cloudformation"), plan.name, now=clock.now())
    bundle.add("slurm/head-node.txt", lambda: _head_node(bundle, plan, target))


def _head_node(bundle: Bundle, plan: ParallelClusterPlan, target: Target) -> str:
    with reached_head_node(plan, target) as head_node:
        add_head_node(bundle, head_node.run, has_logs=not target.is_sandbox)
        bundle.add("slurm/errors-in-logs.json", lambda: errors_in_logs(bundle, head_node.run))
        return head_node.instance_id


def errors_in_logs(bundle: Bundle, run: Run) -> dict[str, str]:
    """Add the errors in the newest logs of jobs that have failed.

    Args:
        bundle: What is written.
        run: Runs a script on the head node, and returns its standard output.

    Returns:
        The sections of the errors, by name and id of the job.
    """
    # Nobody can know when a program writes its log how a log begins here.
    begin = secrets.token_hex(8)
    found: dict[str, str] = {}
    for part in run(_LOG_ENDS.replace("{0}", begin)).split(begin)[1:]:
        title, _, text = part.partition("\n")
        name, _, state = title.strip().partition(" ")
        error = None if state in _NOT_FAILED else error_in(text)
        if error:
            found[name] = error.heading
            bundle.blame_log(f"Slurm job {name}", error)
    return found
