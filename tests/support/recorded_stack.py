"""A deployed stack whose jobs are functions of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trainyard.schedulers.job_wait import JobWait
from trainyard.verify.inventory import Inventory
from trainyard.verify.node_marks import Mark
from trainyard.verify.stages import Stage
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

    def outputs(self, *, show_secrets: bool) -> Mapping[str, Any]:
        del show_secrets
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def submit_manifest(self, text: str, wait: JobWait | None) -> None:
        self._submit(text, wait)

    def submit_directory(
        self, _plan: object, _job: object, name: str, wait: JobWait | None
    ) -> None:
        self._submit(name, wait)

    def _submit(self, what: str, wait: JobWait | None) -> None:
        self.submitted.append(what)
        self.waits.append(wait)
        self.job(what, wait)

    def inventory(self, _plan: object, _planned: object) -> Inventory:
        return Inventory(stage=self.nodes, versions={"kernel": {"n-1": "6.12"}})

    def mark_nodes(self, marks: Iterable[Mark], *, at: datetime, required: bool) -> Sequence[str]:
        self.times.append(at)
        self.marks += [(mark.node, mark.passed, required) for mark in marks]
        return ()

    def run_on_head_node(self, _plan: object, script: str) -> str:
        self.scripts.append(script)
        return self.head_node_says
