"""What differs by the scheduler of a stack: Kubernetes, Slurm or AWS Batch.

The package of each scheduler has the same modules: `scheduler` implements this protocol, and
imports the others when it needs them. `trainyard.schedulers.registry` has the scheduler of a stack.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from trainyard.cli import failures
from trainyard.jobs.nodes import JobError
from trainyard.stack_files.stack_config import plan_of

if TYPE_CHECKING:
    from trainyard.cli.closing_panel import Summary
    from trainyard.components.capacity.plan import CapacityPlan
    from trainyard.diagnosis.bundle import Bundle
    from trainyard.jobs.time_limit import TimeLimit
    from trainyard.jobs.training import TrainingRequest
    from trainyard.repair.repair_request import RepairRequest
    from trainyard.schedulers.job_wait import JobWait, RequestedJob
    from trainyard.schedulers.listed_job import ListedJob
    from trainyard.schedulers.log_request import LogRequest
    from trainyard.verify.inventory import Inventory
    from trainyard.verify.planned_nodes import PlannedTest
    from trainyard.verify.verified import Verified
    from trainyard.workspace.target import Target
    from trainyard.workspace.workspace import Workspace


class Job(Protocol):
    """A job as its scheduler takes it."""

    def show(self) -> None:
        """Print the job, or write it into files, instead of submitting it.

        Raises:
            JobError: the files cannot be written.
        """
        ...


OwnJob = TypeVar("OwnJob", bound=Job)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedProgram(Generic[OwnJob]):
    """A program of `run` on nodes that can run it; when it must end is still to be found out."""

    time_limit_minutes: int | None
    """Longest run that the user has asked for; None for no limit."""
    capacities: Sequence[CapacityPlan]
    """Capacity of the nodes; several if the scheduler chooses among Capacity Blocks."""
    nodes_leave_before: timedelta
    """How long before the end of a Capacity Block its nodes leave."""
    render: Callable[[TimeLimit], OwnJob]
    """Returns the job with a time limit. Raises JobError if the scheduler cannot take it."""


Pause = Callable[[float], object]
"""Waits a number of seconds."""


def no_watch(stack: str) -> str:
    """Return why a stack is not watched."""
    return f"--watch is for EKS: the service of {stack} replaces bad nodes itself"


class SubmittedJobs(Protocol):
    """The jobs of a deployed stack in its scheduler, which has been reached."""

    def jobs(self) -> list[ListedJob]:
        """Return the jobs that it knows, those that have not ended first."""
        ...

    def log(self, asked: LogRequest) -> Iterator[str]:
        """Yield the lines of the log of a job.

        Raises:
            WrongUseError: there is no such job, node or process.
            CommandError: there is no log, or it cannot be read.
        """
        ...

    def cancel(self, job: ListedJob) -> None:
        """End a job that has not ended."""
        ...


@dataclass(frozen=True)
class Scheduler(ABC, Generic[OwnJob]):
    """The scheduler of a stack.

    Its methods import the clients that they use, so that a command that needs none starts quickly.
    """

    target: Target
    """The stack and its account."""

    title: ClassVar[str]
    """What users call stacks of this kind."""
    tests: ClassVar[tuple[str, ...]]
    """Names of the jobs of `job`."""
    pool_options: ClassVar[tuple[str, ...]]
    """Options of commands that select the nodes of a job."""
    job_options: ClassVar[tuple[str, ...]] = ()
    """Further options that only `job` has."""
    selection_hint: ClassVar[str] = ""
    """What to say after the names of the jobs."""
    instead_of_plain_values: ClassVar[str]
    """How a job of `run` gets a secret."""
    reserved_prefix: ClassVar[str] = ""
    """Prefix of the names of variables that the scheduler reserves; empty for none."""
    artifacts: ClassVar[Mapping[str, str]] = {}
    """Outputs of the stack that have a document, by the name of the document for `artifact`."""
    log_group_hint: ClassVar[str] = ""
    """What to say after a log group that does not exist."""
    tests_chosen_nodes: ClassVar[bool] = True
    """Whether it can run a job on pairs of nodes, and NVIDIA's diagnostics on each node."""
    runs_programs_in_sandbox: ClassVar[bool] = False
    """Whether jobs of the sandbox run their programs, on this machine."""
    drains_nodes: ClassVar[bool] = False
    """Whether `verify` can drain nodes."""
    chooses_image: ClassVar[bool] = False
    """Whether a program of `run` has an image of its own; otherwise, it runs on the nodes, or in
    the image of a job definition."""
    instead_of_copies: ClassVar[str] = ""
    """What a job runs instead of a program of the working directory, and how it gets that one;
    empty if the job takes the program with it."""
    node_path: ClassVar[str] = ""
    """`PATH` of a program that runs on the nodes, for a job that extends it; empty if programs run
    in containers."""
    slow_types: ClassVar[tuple[str, ...]]
    """Types of resources of a cluster that AWS creates one after the other, in that order."""
    repair_minutes: ClassVar[float | None] = None
    """About how long `repair` of a node takes, an estimate; None if it replaces none."""
    change_minutes: ClassVar[float] = 2.0
    """About how long `up` takes after `change_in_place`, an estimate."""

    @cached_property
    def plan(self) -> Any:
        """The plan of the stack.

        Raises:
            ConfigError: the configuration is invalid; the error lists every problem.
        """
        return plan_of(self.target.stack_file)

    @abstractmethod
    def plan_test(self, asked: RequestedJob) -> OwnJob:
        """Return a job of `job`.

        Raises:
            JobError: the stack has no nodes for the job, several that match, or too few.
            WrongUseError: an option has no effect, or the sandbox cannot run the job.
        """

    @abstractmethod
    def plan_program(self, asked: RequestedJob, request: TrainingRequest) -> PlannedProgram[OwnJob]:
        """Return a program of `run`, whose nodes can run it.

        Raises:
            JobError: the stack has no nodes for the program, or the scheduler cannot run it so.
            WrongUseError: the sandbox cannot run it.
        """

    @classmethod
    def mount_settings(cls, name: str) -> Mapping[str, Any] | None:
        """Return with which keys a stack file mounts a new file system on all nodes.

        Args:
            name: The file system, an entry of `storage`.

        Returns:
            The keys besides those of the file system itself; None if stacks have no storage.
        """
        del name
        return None

    @classmethod
    @abstractmethod
    def change_in_place(cls, architecture: dict[str, Any]) -> str:
        """Change a value of a stack file that AWS changes without a new node.

        Args:
            architecture: The object `architecture` of the stack file.

        Returns:
            The path of the key below `architecture`; empty if the stack has no such key.
        """

    def shared_directory(self) -> str:
        """Return a directory on shared storage as a program of `run` sees it; empty without one."""
        return ""

    @abstractmethod
    def submit(self, job: OwnJob, wait: JobWait | None) -> None:
        """Submit a job, and print its name or id on standard output.

        Args:
            job: The job.
            wait: How to follow it until its end; None to return at once.

        Raises:
            WrongUseError: there are no credentials.
            StackLockedError: another command holds the lock of the stack.
            JobFailedError: the job failed.
            CommandError: the stack is not deployed, the scheduler refuses the job or cannot be
                reached, or the job does not start within the limit.
        """

    @abstractmethod
    def submitted(self) -> AbstractContextManager[SubmittedJobs]:
        """Give the jobs of the stack.

        Raises:
            ConfigError: the configuration is invalid; the error lists every problem.
            WrongUseError: there are no credentials.
            CommandError: the stack is not deployed, or its scheduler refuses a request or does not
                respond.
        """

    @abstractmethod
    def log_group(self, cluster: str, outputs: Callable[[], Mapping[str, Any]]) -> str:
        """Return the CloudWatch log group of the stack; empty if it has none.

        Args:
            cluster: Name of the cluster in the stack file.
            outputs: Reads the outputs of the stack, which not every scheduler needs.

        Raises:
            CommandError: the outputs of the stack cannot be read.
        """

    @abstractmethod
    def planned_test(self, *, nodes: int | None, options: Mapping[str, Any]) -> PlannedTest[Any]:
        """Return the test of the accelerators of the stack.

        Args:
            nodes: Number of nodes; None for the default of the job.
            options: Values of `pool_options`; None, or left out, if not given.

        Raises:
            JobError: the stack has no such nodes, several that match, or too few.
        """

    @abstractmethod
    def verifiable_pools(self) -> list[Mapping[str, str]]:
        """Return the options of a verification for each pool of nodes with accelerators.

        Pools without nodes now are left out, unless the scheduler launches nodes for a job.
        """

    def refuse_without_accelerators(self, test: str) -> None:
        """Refuse a test that the sandbox does not run.

        Raises:
            WrongUseError: the sandbox has no accelerators, and no recorded log of the test.
        """
        del test

    @abstractmethod
    def inventory(self, planned: PlannedTest[Any]) -> Inventory:
        """Return the nodes of a test as the scheduler knows them.

        Raises:
            WrongUseError: there are no credentials.
            CommandError: the stack has no cluster, or the scheduler cannot be reached.
        """

    @abstractmethod
    def use_results(self, result: Verified, *, drain: bool) -> None:
        """Label or drain the nodes of a test that has run, or say what can be done.

        Args:
            result: The test.
            drain: Whether to drain the nodes that a stage names, if the scheduler `drains_nodes`.

        Raises:
            CommandError: the scheduler cannot be reached, or refuses a request.
        """

    @abstractmethod
    def node_of(self, planned: PlannedTest[Any]) -> str:
        """Return the name of a node that a test runs on.

        Raises:
            WrongUseError: there are no credentials.
            CommandError: the nodes cannot be read, or there is none.
        """

    @abstractmethod
    def repair(self, request: RepairRequest) -> None:
        """Replace bad nodes, or the named one.

        Raises:
            WrongUseError: the service does it, there is no such node, there are no credentials, or
                no terminal for the confirmation.
            CancelledError: the user does not confirm.
            StackLockedError: another command changes the stack.
            CommandError: the stack is not deployed, or a node cannot be replaced.
        """

    def watch_nodes(
        self, request_of: Callable[[Pause], RepairRequest], interval_minutes: float | None
    ) -> None:
        """Repair nodes at intervals until SIGTERM, each time as the stack file then says.

        Args:
            request_of: Reads the stack file, and returns a request whose pauses are these.
            interval_minutes: Time between two looks; None for the default.

        Raises:
            WrongUseError: the service replaces bad nodes itself.
        """
        del request_of, interval_minutes
        raise failures.WrongUseError(no_watch(self.target.stack))

    @abstractmethod
    def diagnose(self, bundle: Bundle, workspace: Workspace, deployed: Mapping[str, Any]) -> None:
        """Add what explains the state of the stack to a bundle.

        Args:
            bundle: What is written; it lists the parts that cannot be read.
            workspace: The deployed stack, whose account is open.
            deployed: Its outputs.
        """

    @abstractmethod
    def show_deployed(self, workspace: Workspace, changes: Mapping[str, int]) -> None:
        """Print the panel of `up`.

        Args:
            workspace: The deployed stack.
            changes: Number of resources by operation.

        Raises:
            CommandError: nodes or device plugins did not come up in time.
        """

    @abstractmethod
    def show_status(self, summary: Summary) -> None:
        """Print the panel of `status`. It needs no plan: the stack file may have become invalid."""

    def show_planned(self, outputs: Mapping[str, Any]) -> None:
        """Print what another service will create for the planned outputs of the stack."""
        del outputs


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what a job cannot be into a message of a command.

    Raises:
        WrongUseError: a job cannot be planned.
    """
    try:
        yield
    except JobError as error:
        raise failures.WrongUseError(str(error)) from error


def make_test(scheduler: Scheduler[Any], asked: RequestedJob) -> None:
    """Submit a job of `job`, or show it.

    Raises:
        WrongUseError: the stack has no nodes for the job, or there are no credentials.
        CommandError: the job was not submitted, or has failed.
    """
    with refusals():
        job = scheduler.plan_test(asked)
        if not asked.submit:
            job.show()
            return
    scheduler.submit(job, asked.wait)
