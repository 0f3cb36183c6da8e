"""What `verify` does with the nodes that it has tested, and what it tells about them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.cli import console
from trainyard.components import clock
from trainyard.stack_files.stack_config import config_of, plan_of
from trainyard.stack_files.stack_files import BATCH, PARALLELCLUSTER

if TYPE_CHECKING:
    from trainyard.schedulers.job_wait import RequestedJob
    from trainyard.verify.node_results import NodeResults


def use_results(results: NodeResults, asked: RequestedJob, kind: str, *, drain: bool) -> None:
    """Label nodes in EKS, drain them in Slurm, or say what can be done.

    Args:
        results: The tested nodes, by result.
        asked: The test.
        kind: Kind of the stack.
        drain: Slurm: whether to drain the nodes that a stage names.

    Raises:
        CommandError: the API server or the head node cannot be reached, or refuses a request.
    """
    if kind == BATCH:
        if results.failures:
            console.progress(
                "AWS Batch has no nodes that could be labelled or closed to jobs; terminate the "
                "instance of a bad node in EC2, and Batch launches another one"
            )
    elif kind == PARALLELCLUSTER:
        _drain(results, asked, drain=drain)
    elif results.passed or results.failed:
        _mark(results, asked)
    else:
        console.progress("the nodes of the test are unknown, so none is labelled")


def _drain(results: NodeResults, asked: RequestedJob, *, drain: bool) -> None:
    """Drain Slurm nodes with a reason; ParallelCluster replaces them.

    Source:
        https://slurm.schedmd.com/scontrol.html: `update` of a node, `State` and `Reason`
        https://github.com/aws/aws-parallelcluster-cookbook, `update_head_node.rb`: `sudo -i`
    """
    if not results.failures:
        return
    if not results.causes:
        console.progress("no stage names a bad node: there is none to drain")
        return
    reason = shlex.quote(f"verify: {', '.join(results.failures)}")
    command = (
        f"sudo -i scontrol update nodename={','.join(results.causes)} state=drain reason={reason}"
    )
    if not drain:
        login = asked.stack_file.command("ssh", sandbox=False)
        by_hand = "" if asked.sandbox else f", or on the head node ({login}):\n  {command}"
        console.progress(f"drain the bad nodes with --drain{by_hand}")
        return
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan

    plan = plan_of(asked.stack_file)
    assert isinstance(plan, ParallelClusterPlan)  # noqa: S101 - `kind` says so
    asked.deployed.run_on_head_node(plan, command)
    console.progress(f"drained: {', '.join(results.causes)}")


def _mark(results: NodeResults, asked: RequestedJob) -> None:
    """Label the nodes, and remove or set the taint of nodes that have not passed."""
    from trainyard.verify.node_marks import marks_of

    required = config_of(asked.stack_file).verification.required
    # The same time for all nodes: `repair` compares nodes that were tested together.
    gone = asked.deployed.mark_nodes(marks_of(results), at=clock.now(), required=required)
    closed = ", and closed to jobs" if required else ""
    _tell("passed", "", results.passed, gone)
    _tell("failed", closed, results.failed, gone)


def _tell(result: str, more: str, nodes: Sequence[str], gone: Sequence[str]) -> None:
    there = [node for node in nodes if node not in gone]
    if there:
        console.progress(f"labelled as {result}{more}: {', '.join(there)}")
    left = [node for node in nodes if node in gone]
    if left:
        console.progress(f"no longer in the cluster: {', '.join(left)}")
