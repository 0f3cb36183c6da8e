"""The parts of a bundle about a Slurm cluster: CloudFormation, and commands on the head node.

Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/troubleshooting-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/troubleshooting-v3-get-logs.html
    https://slurm.schedmd.com/sinfo.html (`--list-reasons`)
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from trainyard.diagnosis.bundle import Bundle
from trainyard.diagnosis.cluster_events import failed_resources

_LOG_BYTES = 20_000
"""Systems Manager returns 24,000 characters at most."""
_COMMANDS = {
    "slurm/partitions.txt": "sinfo --all",
    "slurm/nodes.txt": "scontrol --oneliner show nodes",
    "slurm/jobs.txt": "squeue --all --states=all --long",
}
_LOGS = (
    "/var/log/slurmctld.log",
    "/var/log/parallelcluster/clustermgtd",
    "/var/log/parallelcluster/slurm_resume.log",
    "/var/log/parallelcluster/slurm_suspend.log",
    "/var/log/chef-client.log",
)
_REASONS = "sinfo --list-reasons --noheader --format='%N %T: %E'"


def add_events(bundle: Bundle, cloudformation: Any, cluster: str, *, now: datetime) -> None:
    """Add the resources of the cluster's CloudFormation stack that failed."""
    failed = bundle.add(
        "cluster-events.json", lambda: failed_resources(cloudformation, cluster, now=now)
    )
    bundle.blame(f"CloudFormation: {each}" for each in failed or [])


def add_head_node(bundle: Bundle, run: Callable[[str], str], *, has_logs: bool) -> None:
    """Add the state of Slurm and the ends of its logs.

    Args:
        bundle: The bundle.
        run: Runs a script on the head node, and returns its standard output.
        has_logs: Whether ParallelCluster runs on the head node, and writes logs.
    """
    reasons = bundle.add("slurm/reasons.txt", lambda: run(f"{_REASONS}\n"))
    bundle.blame(f"Slurm: {line.strip()}" for line in (reasons or "").splitlines() if line.strip())
    for name, command in _COMMANDS.items():
        bundle.add(name, partial(run, f"{command}\n"))
    if not has_logs:
        bundle.missing["slurm/*.log"] = (
            "the head node of the sandbox has no logs of ParallelCluster"
        )
    for path in _LOGS if has_logs else ():
        name = path.rpartition("/")[2].removesuffix(".log")
        bundle.add(f"slurm/{name}.log", partial(run, f"sudo tail -c {_LOG_BYTES} -- {path}\n"))
