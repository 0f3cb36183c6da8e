"""The parts of `verify` for Slurm: the test and its nodes on the head node, and their drain."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from trainyard.cli import console
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.jobs.slurm.nodes import SlurmNodes, SlurmRequest, choose_slurm_nodes, with_devices
from trainyard.schedulers.slurm.submission import HeadNode, reached_head_node
from trainyard.verify.inventory import SHOW_NODES, Inventory, slurm_inventory
from trainyard.verify.node_marks import node_results
from trainyard.verify.planned_nodes import PlannedTest, listed_test
from trainyard.verify.verified import Verified
from trainyard.workspace.target import Target

Reached = Callable[[ParallelClusterPlan, Target], AbstractContextManager[HeadNode]]
"""`reached_head_node` or a replacement."""


def planned_test(
    plan: ParallelClusterPlan, *, nodes: int | None, options: Mapping[str, Any]
) -> PlannedTest[SlurmNodes]:
    """Return the test of the accelerators of a stack.

    Raises:
        JobError: the stack has no such nodes, several that match, or too few.
    """
    slurm = SlurmRequest(
        queue=options.get("--queue"),
        compute_resource=options.get("--compute-resource"),
        nodes=nodes,
    )
    chosen = choose_slurm_nodes(plan, None, slurm)
    return listed_test(chosen, chosen.resource)


def verifiable_pools(plan: ParallelClusterPlan) -> list[Mapping[str, str]]:
    """Return the options that select each compute resource with accelerators."""
    return [
        {"--queue": queue.name, "--compute-resource": resource.name}
        for queue, resource in with_devices(plan, None)
    ]


def read_inventory(
    plan: ParallelClusterPlan,
    target: Target,
    planned: PlannedTest[SlurmNodes],
    reached: Reached = reached_head_node,
) -> Inventory:
    """Compare the nodes of a test in Slurm with the plan.

    Args:
        plan: Plan of the stack.
        target: The stack and its account.
        planned: The test and its nodes.
        reached: Gives the head node.

    Raises:
        WrongUseError: there are no credentials.
        CommandError: the head node cannot be reached.
    """
    nodes = planned.chosen
    with reached(plan, target) as head_node:
        shown = head_node.run(SHOW_NODES)
    return slurm_inventory(nodes, shown)


def use_results(
    result: Verified,
    plan: ParallelClusterPlan,
    target: Target,
    *,
    drain: bool,
    reached: Reached = reached_head_node,
) -> None:
    """Drain Slurm nodes with a reason; ParallelCluster replaces them.

    Source:
        https://slurm.schedmd.com/scontrol.html: `update` of a node, `State` and `Reason`
        https://github.com/aws/aws-parallelcluster-cookbook, `update_head_node.rb`: `sudo -i`

    Args:
        result: The test.
        plan: Plan of the stack.
        target: The stack and its account.
        drain: Whether to drain the nodes that a stage names.
        reached: Gives the head node.

    Raises:
        CommandError: the head node cannot be reached.
    """
    results = node_results(result.stages, result.hosts)
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
        login = target.command("ssh")
        by_hand = "" if target.is_sandbox else f", or on the head node ({login}):\n  {command}"
        console.progress(f"drain the bad nodes with --drain{by_hand}")
        return
    with reached(plan, target) as head_node:
        head_node.run(command)
    console.progress(f"drained: {', '.join(results.causes)}")
