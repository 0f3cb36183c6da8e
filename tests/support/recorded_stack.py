"""A deployed stack whose jobs are functions of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.kubernetes import verification as kubernetes_verification
from trainyard.schedulers.kubernetes.job_plan import KubernetesJob
from trainyard.schedulers.kubernetes.scheduler import KubernetesScheduler
from trainyard.schedulers.registry import scheduler_of
from trainyard.schedulers.scheduler import Scheduler
from trainyard.schedulers.slurm import verification as slurm_verification
from trainyard.schedulers.slurm.scheduler import SlurmScheduler
from trainyard.verify.inventory import Inventory
from trainyard.verify.node_marks import Mark
from trainyard.verify.stages import Stage
from trainyard.verify.verified import Verified
from trainyard.workspace.target import Target

AS_PLANNED = Stage(name="inventory", result="pass", reason="2 of 2 nodes are as planned")

Job = Callable[[str, Any], object]
"""Runs a job: its manifest in EKS and its name in Slurm, and how the command waits for it."""


def prints(text: str, *nodes: str) -> Job:
    """Return a job that prints a log, and ends on nodes of EKS."""

    def job(_what: str, wait: JobWait) -> None:
        for line in text.splitlines():
            wait.show(line)
        wait.ran_on(nodes)

    return job


@dataclass
class RecordedStack:
    """Stands for `DeployedStack`, and records what a command does."""

    job: Job = lambda _what, _wait: None
    nodes: Stage = AS_PLANNED
    submitted: list[str] = field(default_factory=list[str])
    waits: list[JobWait | None] = field(default_factory=list[JobWait | None])
    marks: list[tuple[str, bool, bool]] = field(default_factory=list[tuple[str, bool, bool]])
    """The nodes that were labelled, whether they have passed, and whether that is required."""
    times: list[datetime] = field(default_factory=list[datetime])
    """When nodes were labelled."""
    found: Mapping[str, Any] | Exception = field(default_factory=dict[str, Any])
    """The outputs of the stack, or why there are none."""
    head_node_says: str = ""
    """Output of the scripts on the head node."""
    scripts: list[str] = field(default_factory=list[str])
    """What ran there."""
    target: Any = None

    def __call__(self, target: Target) -> RecordedStack:
        self.target = target
        return self

    @contextmanager
    def reached(self, *_: object) -> Iterator[Any]:
        """Stand for `reached_head_node`."""

        def run(script: str) -> str:
            self.scripts.append(script)
            return self.head_node_says

        yield SimpleNamespace(run=run)

    def outputs(self, *, show_secrets: bool) -> Mapping[str, Any]:
        del show_secrets
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def scheduler(self, **options: str) -> RecordedScheduler:
        return RecordedScheduler(scheduler_of(self.target, **options), self)


@dataclass
class RecordedScheduler:
    """Plans jobs like the scheduler of a stack, and records what it would do with them."""

    planning: Scheduler[Any]
    stack: RecordedStack

    def __getattr__(self, name: str) -> Any:
        return getattr(self.planning, name)

    def submit(self, job: Any, wait: JobWait | None) -> None:
        what = job.manifest.text if isinstance(job, KubernetesJob) else job.name
        self.stack.submitted.append(what)
        self.stack.waits.append(wait)
        self.stack.job(what, wait)

    def inventory(self, _planned: object) -> Inventory:
        return Inventory(stage=self.stack.nodes, versions={"kernel": {"n-1": "6.12"}})

    def use_results(self, result: Verified, *, drain: bool) -> None:
        target = self.planning.target
        if isinstance(self.planning, KubernetesScheduler):
            kubernetes_verification.use_results(result, target, self._mark)
        elif isinstance(self.planning, SlurmScheduler):
            slurm_verification.use_results(
                result, self.planning.plan, target, drain=drain, reached=self.stack.reached
            )
        else:
            self.planning.use_results(result, drain=drain)

    def _mark(
        self, _target: Target, marks: Iterable[Mark], *, at: datetime, required: bool
    ) -> Sequence[str]:
        self.stack.times.append(at)
        self.stack.marks += [(mark.node, mark.passed, required) for mark in marks]
        return ()
