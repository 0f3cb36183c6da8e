"""`repair`: replaces bad nodes inside their reservation."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from components.batch.plan import BatchPlan
from components.eks.plan import EksPlan
from components.parallelcluster.plan import ParallelClusterPlan
from tools.cli import failures, options
from tools.cli.job_wait import START_LIMIT_MINUTES
from tools.cli.repair_request import RepairRequest
from tools.cli.stack_config import plan_of

_DRAIN_LIMIT_MINUTES = 15.0


def repair(
    stack: options.Stack,
    node: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Replace this node, bad or not. Default in EKS: all bad nodes. Required in Slurm.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be replaced; change nothing.")
    ] = False,
    drain_minutes: Annotated[
        float,
        typer.Option(min=0, help="EKS: maximum minutes until the pods of a node have ended."),
    ] = _DRAIN_LIMIT_MINUTES,
    wait_minutes: Annotated[
        float, typer.Option(min=0, help="EKS: maximum minutes to wait for a replacement.")
    ] = START_LIMIT_MINUTES,
    yes: options.Yes = False,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
) -> None:
    """Replace bad nodes inside their reservation: cordon, drain, terminate, wait.

    EKS: nodes that the node monitoring agent or the kubelet reports as bad. Slurm: drains a node,
    which ParallelCluster replaces. Run it again to continue after an interruption.
    """
    found = options.stack_file(stack, path=stack_file, sandbox=sandbox)
    request = RepairRequest(
        stack_file=found,
        sandbox=sandbox,
        node=node,
        dry_run=dry_run,
        yes=yes,
        drain_limit_minutes=drain_minutes,
        wait_limit_minutes=wait_minutes,
    )
    plan: Any = plan_of(found)
    if isinstance(plan, EksPlan):
        from tools.cli.eks_repair import repair_cluster

        repair_cluster(plan, request)
    elif isinstance(plan, ParallelClusterPlan):
        from tools.cli.slurm_repair import drain_node

        drain_node(plan, request)
    elif isinstance(plan, BatchPlan):
        raise failures.WrongUseError(
            "AWS Batch replaces nodes: terminate the instance with `aws ec2 terminate-instances "
            f"--region {plan.region} --instance-ids ID`, and Batch launches another one for the "
            "next job; a job that runs on it fails"
        )
    else:
        raise failures.WrongUseError(f"{stack} is a network, and has no nodes")
