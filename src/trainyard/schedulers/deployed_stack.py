"""A deployed stack as the commands for jobs use it: its scheduler, its nodes and its account.

A command makes it with the object of the command line, if its caller gave one:
https://click.palletsprojects.com/en/stable/complex/#contexts
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from trainyard.cli import failures
from trainyard.stack_files.stack_config import kind_of, plan_of
from trainyard.stack_files.stack_files import NETWORK, StackFile
from trainyard.workspace.target import Target

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from trainyard.components.batch.plan import BatchPlan
    from trainyard.components.eks.plan import EksPlan
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan
    from trainyard.jobs.batch_request import BatchSubmission
    from trainyard.jobs.slurm.directory import JobDirectory
    from trainyard.schedulers.job_wait import JobWait
    from trainyard.schedulers.schedulers import Scheduler
    from trainyard.verify.inventory import Inventory
    from trainyard.verify.node_marks import Mark
    from trainyard.verify.planned_nodes import PlannedTest


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack of the user's account or of the sandbox.

    Its methods import the clients that they use, so that a command that needs none starts quickly.
    """

    target: Target

    def outputs(self, *, show_secrets: bool) -> dict[str, Any]:
        """Return the outputs of the stack."""
        from trainyard.deployment.stack_outputs import outputs_of

        return outputs_of(self.target, show_secrets=show_secrets)

    def submit_manifest(self, text: str, wait: JobWait | None) -> None:
        """EKS: create the jobs of a manifest."""
        from trainyard.schedulers.kubernetes.submission import submit_manifest

        submit_manifest(text, target=self.target, wait=wait)

    def submit_directory(
        self, plan: ParallelClusterPlan, job: JobDirectory, name: str, wait: JobWait | None
    ) -> None:
        """Slurm: copy a job to the head node, and submit it."""
        from trainyard.schedulers.slurm.submission import submit_directory

        submit_directory(plan, job, name, target=self.target, wait=wait)

    def submit_request(
        self, plan: BatchPlan, submission: BatchSubmission, wait: JobWait | None
    ) -> None:
        """Batch: submit a job."""
        from trainyard.schedulers.batch.submission import submit_job

        submit_job(plan, submission, target=self.target, wait=wait)

    def inventory(
        self, plan: EksPlan | ParallelClusterPlan | BatchPlan, planned: PlannedTest
    ) -> Inventory:
        """Return the nodes of a test as the scheduler knows them."""
        from trainyard.schedulers.verify_inventory import read_inventory

        return read_inventory(self, plan, planned)

    def mark_nodes(self, marks: Iterable[Mark], *, at: datetime, required: bool) -> list[str]:
        """EKS: label nodes with their results; return the names of those that are gone."""
        from trainyard.schedulers.kubernetes.cluster import reached_cluster
        from trainyard.verify.node_marks import mark_node

        with reached_cluster(self.target) as api:
            return [
                mark.node for mark in marks if not mark_node(api, mark, at=at, required=required)
            ]

    def run_on_head_node(self, plan: ParallelClusterPlan, script: str) -> str:
        """Slurm: run a script, and return its standard output."""
        from trainyard.schedulers.slurm.submission import reached_head_node

        with reached_head_node(plan, self.target) as head_node:
            return head_node.run(script)

    def scheduler(
        self, plan: EksPlan | ParallelClusterPlan | BatchPlan
    ) -> AbstractContextManager[Scheduler]:
        """Give the scheduler with its jobs."""
        from trainyard.schedulers.schedulers import scheduler_of

        return scheduler_of(plan, self.target)


def deployed_stack(context: typer.Context, target: Target) -> DeployedStack:
    """Return the stack that a command works with."""
    return (context.obj or DeployedStack)(target)


def plan_with_jobs(stack_file: StackFile) -> Any:
    """Return the plan of a stack that runs jobs.

    Raises:
        WrongUseError: it is a network.
    """
    if kind_of(stack_file) == NETWORK:
        raise failures.WrongUseError(f"{stack_file.stack} is a network, and runs no jobs")
    return plan_of(stack_file)
