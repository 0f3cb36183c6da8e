"""The parts of a bundle of `diagnose` about a Slurm cluster: its failures and its head node."""

from __future__ import annotations

from trainyard.components import clock
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.diagnosis.bundle import Bundle, add_events, add_head_node
from trainyard.schedulers.slurm.submission import reached_head_node
from trainyard.workspace.target import Target


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
        return head_node.instance_id
