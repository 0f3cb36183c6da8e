"""Slurm, the scheduler of a ParallelCluster stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, cast

from trainyard.cli import console
from trainyard.jobs.names import SLURM_JOBS
from trainyard.schedulers.scheduler import PlannedProgram, Scheduler, SubmittedJobs
from trainyard.stack_files.stack_config import plan_of

if TYPE_CHECKING:
    from trainyard.cli.closing_panel import Summary
    from trainyard.components.parallelcluster.plan import ParallelClusterPlan
    from trainyard.diagnosis.bundle import Bundle
    from trainyard.jobs.slurm.nodes import SlurmNodes
    from trainyard.jobs.training import TrainingRequest
    from trainyard.repair.repair_request import RepairRequest
    from trainyard.schedulers.job_wait import JobWait, RequestedJob
    from trainyard.schedulers.slurm.job_plan import SlurmJob
    from trainyard.verify.inventory import Inventory
    from trainyard.verify.planned_nodes import PlannedTest
    from trainyard.verify.verified import Verified
    from trainyard.workspace.workspace import Workspace


class SlurmScheduler(Scheduler["SlurmJob"]):
    """The Slurm cluster of a stack, which is reached through its head node."""

    title: ClassVar = "ParallelCluster"
    tests: ClassVar = SLURM_JOBS
    pool_options: ClassVar = ("--queue", "--compute-resource")
    job_options: ClassVar = ("--scaling", "--output", "--force")
    instead_of_plain_values: ClassVar = "use --secret 'NAME=~/.secrets/FILE' instead"
    artifacts: ClassVar = MappingProxyType({"cluster-config": "cluster_config"})
    runs_programs_in_sandbox: ClassVar = True
    drains_nodes: ClassVar = True
    node_path: ClassVar = (
        "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/opt/slurm/bin:/opt/amazon/efa/bin"
    )
    slow_types: ClassVar = ("aws:cloudformation/stack:Stack",)
    repair_minutes: ClassVar = 1.0
    """Until the node is drained; ParallelCluster replaces it later."""
    change_minutes: ClassVar = 5.0

    @cached_property
    def plan(self) -> ParallelClusterPlan:
        """The plan of the stack."""
        return cast("ParallelClusterPlan", plan_of(self.target.stack_file))

    def plan_test(self, asked: RequestedJob) -> SlurmJob:
        """Return a job of `job`."""
        from trainyard.schedulers.slurm.job_plan import plan_test, review_test

        review_test(asked, self.target)
        return plan_test(self.plan, self.target, asked)

    def plan_program(
        self, asked: RequestedJob, request: TrainingRequest
    ) -> PlannedProgram[SlurmJob]:
        """Return a program of `run`."""
        from trainyard.schedulers.slurm.job_plan import plan_program, review_program

        review_program(asked, request, self.target)
        return plan_program(self.plan, asked, request)

    @classmethod
    def mount_settings(cls, name: str) -> Mapping[str, Any]:
        """Return the directory in which all nodes have the file system."""
        return {"mount_directory": f"/{name}"}

    @classmethod
    def change_in_place(cls, architecture: dict[str, Any]) -> str:
        """Add or remove ParallelCluster's dashboard, which is no part of the nodes.

        https://docs.aws.amazon.com/parallelcluster/latest/ug/Monitoring-v3.html: `Dashboards` can
        be changed during an update
        """
        from trainyard.components.config.parallelcluster import Monitoring

        monitoring = architecture.setdefault("monitoring", {})
        default = Monitoring.model_fields["dashboard"].default
        monitoring["dashboard"] = not monitoring.get("dashboard", default)
        return "monitoring.dashboard"

    def shared_directory(self) -> str:
        """Return the directory of a file system that all nodes mount."""
        from trainyard.jobs.slurm.nodes import shared_directory

        return shared_directory(self.plan)

    def submit(self, job: SlurmJob, wait: JobWait | None) -> None:
        """Copy a job to the head node, and submit it."""
        from trainyard.schedulers.slurm.submission import submit_directory

        submit_directory(self.plan, job.directory, job.name, target=self.target, wait=wait)

    def submitted(self) -> AbstractContextManager[SubmittedJobs]:
        """Give all jobs of the cluster that Slurm has not forgotten."""
        from trainyard.schedulers.slurm.jobs import slurm_jobs

        return slurm_jobs(self.plan, self.target)

    def log_group(self, cluster: str, outputs: Callable[[], Mapping[str, Any]]) -> str:
        """Return the log group whose name ParallelCluster has chosen."""
        del cluster
        return str(outputs().get("log_group") or "")

    def planned_test(
        self, *, nodes: int | None, options: Mapping[str, Any]
    ) -> PlannedTest[SlurmNodes]:
        """Return the test of the accelerators of the stack."""
        from trainyard.schedulers.slurm.verification import planned_test

        return planned_test(self.plan, nodes=nodes, options=options)

    def verifiable_pools(self) -> list[Mapping[str, str]]:
        """Return the options of a verification for each compute resource."""
        from trainyard.schedulers.slurm.verification import verifiable_pools

        return verifiable_pools(self.plan)

    def refuse_without_accelerators(self, test: str) -> None:
        """Refuse a test that the fault schedule of the sandbox gives no log."""
        from trainyard.schedulers.slurm.job_plan import refuse_in_sandbox

        refuse_in_sandbox([test], "judge a log that exists with --log FILE")

    def inventory(self, planned: PlannedTest[SlurmNodes]) -> Inventory:
        """Return the nodes of a test as Slurm knows them."""
        from trainyard.schedulers.slurm.verification import read_inventory

        return read_inventory(self.plan, self.target, planned)

    def use_results(self, result: Verified, *, drain: bool) -> None:
        """Drain the bad nodes of a test, or say how."""
        from trainyard.schedulers.slurm.verification import use_results

        use_results(result, self.plan, self.target, drain=drain)

    def node_of(self, planned: PlannedTest[SlurmNodes]) -> str:
        """Return the name of the first node of the compute resource."""
        from trainyard.schedulers.slurm.repair import node_of

        return node_of(planned)

    def repair(self, request: RepairRequest) -> None:
        """Drain a node, which ParallelCluster replaces."""
        from trainyard.schedulers.slurm.repair import drain_node

        drain_node(self.plan, request)

    def diagnose(self, bundle: Bundle, workspace: Workspace, deployed: Mapping[str, Any]) -> None:
        """Add the parts about the cluster."""
        from trainyard.schedulers.slurm.diagnosis import diagnose

        del workspace, deployed
        diagnose(bundle, self.plan, self.target)

    def show_deployed(self, workspace: Workspace, changes: Mapping[str, int]) -> None:
        """Print the panel of `up`."""
        from trainyard.schedulers.slurm.summary import show_summary

        show_summary(workspace, changes)

    def show_status(self, summary: Summary) -> None:
        """Print the panel of `status`."""
        from trainyard.schedulers.slurm.summary import print_summary

        print_summary(summary)

    def show_planned(self, outputs: Mapping[str, Any]) -> None:
        """Print the cluster that ParallelCluster will create."""
        from trainyard.schedulers.slurm.summary import cluster_facts

        console.answer("\nParallelCluster creates the cluster:")
        facts = [("head node", self.plan.head_node.instance_type), *cluster_facts(outputs)]
        width = max(len(name) for name, _ in facts)
        for name, fact in facts:
            console.answer(f"  {name:{width}}  {fact}")
        more = self.target.command("artifact", "cluster-config", "--planned")
        console.answer(f"its configuration:  {more}")
