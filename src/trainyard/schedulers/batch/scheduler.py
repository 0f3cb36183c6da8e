"""AWS Batch, the scheduler of a Batch stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from trainyard.cli import failures
from trainyard.jobs.names import BATCH_JOBS
from trainyard.schedulers.scheduler import PlannedProgram, Scheduler, SubmittedJobs
from trainyard.stack_files.stack_config import plan_of

if TYPE_CHECKING:
    from trainyard.cli.closing_panel import Summary
    from trainyard.components.batch.plan import BatchPlan
    from trainyard.diagnosis.bundle import Bundle
    from trainyard.jobs.training import TrainingRequest
    from trainyard.repair.repair_request import RepairRequest
    from trainyard.schedulers.batch.job_plan import BatchJob
    from trainyard.schedulers.job_wait import JobWait, RequestedJob
    from trainyard.verify.inventory import Inventory
    from trainyard.verify.planned_nodes import PlannedTest
    from trainyard.verify.verified import Verified
    from trainyard.workspace.workspace import Workspace


class BatchScheduler(Scheduler["BatchJob"]):
    """The job queues of a stack."""

    title: ClassVar = "Batch"
    tests: ClassVar = BATCH_JOBS
    pool_options: ClassVar = ("--definition",)
    job_options: ClassVar = ("--env",)
    selection_hint: ClassVar = "; --definition selects a job definition"
    instead_of_plain_values: ClassVar = "use `secrets` of the job definition instead"
    reserved_prefix: ClassVar = "AWS_BATCH"
    """See `environment` in `components/config/batch.py`."""
    tests_chosen_nodes: ClassVar = False
    instead_of_copies: ClassVar = (
        "the job runs that of the image of its job definition; build the image with it"
    )
    slow_types: ClassVar = (
        "aws:batch/computeEnvironment:ComputeEnvironment",
        "aws:batch/jobQueue:JobQueue",
    )

    @cached_property
    def plan(self) -> BatchPlan:
        """The plan of the stack."""
        return cast("BatchPlan", plan_of(self.target.stack_file))

    def plan_test(self, asked: RequestedJob) -> BatchJob:
        """Return a job of `job`."""
        from trainyard.schedulers.batch.job_plan import asked_environment, plan_test

        environment = asked_environment(asked, self.reserved_prefix)
        return plan_test(self.plan, asked, environment)

    def plan_program(
        self, asked: RequestedJob, request: TrainingRequest
    ) -> PlannedProgram[BatchJob]:
        """Return a program of `run`."""
        from trainyard.schedulers.batch.job_plan import plan_program

        return plan_program(self.plan, asked, request)

    @classmethod
    def change_in_place(cls, architecture: dict[str, Any]) -> str:
        """Raise the timeout of a job definition by a minute, which is a new revision of it."""
        for name, definition in (architecture.get("job_definitions") or {}).items():
            definition["timeout_minutes"] = int(definition.get("timeout_minutes") or 60) + 1
            return f"job_definitions.{name}.timeout_minutes"
        return ""

    def submit(self, job: BatchJob, wait: JobWait | None) -> None:
        """Submit a job to its queue."""
        from trainyard.schedulers.batch.submission import submit_job

        submit_job(self.plan, job.submission, target=self.target, wait=wait)

    def submitted(self) -> AbstractContextManager[SubmittedJobs]:
        """Give the jobs in the queues of the stack."""
        from trainyard.schedulers.batch.jobs import batch_jobs

        return batch_jobs(self.plan, self.target)

    def log_group(self, cluster: str, outputs: Callable[[], Mapping[str, Any]]) -> str:
        """Return the log group of all Batch jobs."""
        from trainyard.schedulers.batch.job_wait import LOG_GROUP

        del cluster, outputs
        return LOG_GROUP

    def planned_test(self, *, nodes: int | None, options: Mapping[str, Any]) -> PlannedTest[None]:
        """Return the test of the accelerators of the stack."""
        from trainyard.schedulers.batch.verification import planned_test

        return planned_test(self.plan, nodes=nodes, options=options)

    def verifiable_pools(self) -> list[Mapping[str, str]]:
        """Return the options of a verification for each job definition with a test."""
        from trainyard.schedulers.batch.verification import verifiable_pools

        return verifiable_pools(self.plan)

    def inventory(self, planned: PlannedTest[None]) -> Inventory:
        """Return that Batch has no nodes before a job."""
        from trainyard.schedulers.batch.verification import read_inventory

        del planned
        return read_inventory()

    def use_results(self, result: Verified, *, drain: bool) -> None:
        """Say what can be done with bad nodes."""
        from trainyard.schedulers.batch.verification import use_results

        del drain
        use_results(result)

    def node_of(self, planned: PlannedTest[None]) -> str:
        """Say that there are no nodes before a job."""
        del planned
        raise failures.CommandError(f"{self.target.stack} has no nodes before a job")

    def repair(self, request: RepairRequest) -> None:
        """Say how an instance is replaced."""
        del request
        raise failures.WrongUseError(
            "AWS Batch replaces nodes: terminate the instance with `aws ec2 terminate-instances "
            f"--region {self.plan.region} --instance-ids ID`, and Batch launches another one for "
            "the next job; a job that runs on it fails"
        )

    def diagnose(self, bundle: Bundle, workspace: Workspace, deployed: Mapping[str, Any]) -> None:
        """Add the compute environments, the queues and their jobs."""
        from trainyard.schedulers.batch.jobs import diagnose

        del workspace, deployed
        diagnose(bundle, self.plan, self.target)

    def show_deployed(self, workspace: Workspace, changes: Mapping[str, int]) -> None:
        """Print the panel of `up`."""
        from trainyard.schedulers.batch.summary import show_summary

        show_summary(workspace, changes)

    def show_status(self, summary: Summary) -> None:
        """Print the panel of `status`."""
        from trainyard.schedulers.batch.summary import show_status

        show_status(summary)
