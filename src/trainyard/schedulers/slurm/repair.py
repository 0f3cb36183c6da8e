"""`repair` for Slurm: drains a node, which ParallelCluster then replaces.

`clustermgtd` terminates the instance of a static node that is drained, and launches another one
until the reservation has a place for it. A dynamic node is launched for the next job.

Source:
    https://github.com/aws/aws-parallelcluster-node, `src/slurm_plugin/clustermgtd.py`
        (`terminate_drain_nodes`, `_handle_unhealthy_static_nodes`) and
        `src/common/schedulers/slurm_commands.py` (`SCONTROL`)
    https://slurm.schedmd.com/scontrol.html, `update`: DRAIN needs a reason, and running jobs end
        first
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager

from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.slurm.nodes import SlurmNodes
from trainyard.repair.repair_request import RepairRequest
from trainyard.schedulers.slurm.submission import HeadNode, reached_head_node
from trainyard.verify.planned_nodes import PlannedTest

_NODE = re.compile(r"[a-z][a-z0-9-]*-(?:st|dy)-[a-z0-9-]+-[0-9]+")
"""Queue, static or dynamic, compute resource and number.
https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html"""
_REASON = "repair"
_STATE = """\
shown=$(scontrol --oneliner show node {0}) || {{ echo "$shown" >&2; exit 1; }}
tr ' ' '\\n' <<< "$shown" | grep ^State=
squeue --noheader --nodelist={0} --format='job %i %j on %D nodes'
"""


def drain_node(
    plan: ParallelClusterPlan,
    request: RepairRequest,
    reached: Callable[..., AbstractContextManager[HeadNode]] = reached_head_node,
) -> None:
    """Drain a node of a Slurm cluster.

    Args:
        plan: The plan of the cluster.
        request: The arguments of the command.
        reached: Gives the head node.

    Raises:
        WrongUseError: no node is named, the name cannot be one, or there is no terminal for the
            confirmation.
        CancelledError: the user does not confirm.
        CommandError: the head node cannot be reached, or Slurm knows no such node.
    """
    name = request.node
    if name is None:
        raise failures.WrongUseError(
            "name the node with --node: ParallelCluster replaces nodes that Slurm or EC2 reports "
            "as bad itself, and `verify` names others"
        )
    if not _NODE.fullmatch(name):
        raise failures.WrongUseError(
            f"{name} is no node of ParallelCluster, whose names are as in "
            "compute-gpu-st-distributed-ml-1"
        )
    with reached(plan, request.target) as head_node:
        console.answer(_state(head_node, name))
        if request.dry_run:
            console.progress(f"{name}: nothing was changed")
            return
        request.confirm(f"Drain {name}; its jobs run to their end, then it is replaced")
        update = f"update nodename={name} state=drain reason={_REASON}"
        head_node.run(f"sudo /opt/slurm/bin/scontrol {update}\n")
        console.progress(f"{name}: drained; ParallelCluster replaces it when its jobs have ended")
        request.journal.add(clock.now(), node=name, step="RepairBegan", message="drained in Slurm")


def _state(head_node: HeadNode, name: str) -> str:
    """Return the state of a node, and the jobs on it.

    Raises:
        CommandError: Slurm knows no such node, which it prints on standard output.
    """
    return f"{name}: {head_node.run(_STATE.format(name)).strip()}"


def node_of(planned: PlannedTest[SlurmNodes]) -> str:
    """Return the name of the first node of the compute resource of a test."""
    chosen = planned.chosen
    dynamic = "st" if chosen.resource.minimum else "dy"
    return f"{chosen.queue.name}-{dynamic}-{chosen.resource.name}-1"
