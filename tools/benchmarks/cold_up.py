"""Time a real `up` of a new stack; AWS operations with a status take scaled-down AWS time.

It confirms the result of `tools.benchmarks.critical_path` for these resources: the engine, the
providers, the program and its registration order are real, and the durations are those of the
model. Other resources take only the time of their calls, which the computed chain counts as zero.
The times are those at which the engine recorded each resource, so they exclude the start of the
engine and the reads of the account.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from tools.benchmarks.critical_path import CriticalPath, of_steps
from tools.benchmarks.projects import Project, project
from tools.benchmarks.schedule import Timed
from tools.benchmarks.stack_graph import Step, stack_graph
from tools.repository import ROOT
from trainyard.engine.engine_process import PARALLEL_OPERATIONS
from trainyard.sandbox.latency.model import takes_time_in_sandbox
from trainyard.sandboxes.session import started_sandbox

STACKS = ("eks-g4dn", "batch-trn1")
SCALE = 0.1
"""Share of AWS's time; the engine's own time per step weighs ten times as much as on AWS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdUp:
    """Computed and measured duration of one stack."""

    path: CriticalPath
    seconds: float
    """From the start of the first resource to the end of the last, divided by the scale."""

    @property
    def ratio(self) -> float:
        """Measured duration as a multiple of the computed one."""
        return self.seconds / self.path.times.seconds

    def as_json(self) -> dict[str, Any]:
        """Return both, for programs."""
        return {
            "stack": self.path.stack,
            "scale": SCALE,
            "computed_seconds": self.path.times.seconds,
            "measured_seconds": round(self.seconds, 1),
            "ratio": round(self.ratio, 3),
        }


def measure(stacks: Iterable[str] = STACKS) -> list[ColdUp]:
    """Bring each stack up and down in the running sandbox."""
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as directory:
        return [_measured(stack, Path(directory) / stack) for stack in stacks]


def _measured(stack: str, scratch: Path) -> ColdUp:
    scratch.mkdir()
    at_once = ("--yes", "--skip-preview", "--parallel", str(PARALLEL_OPERATIONS))
    path = of_steps(stack, [_as_in_sandbox(step) for step in stack_graph(stack)])
    started_sandbox(print, latency=SCALE)
    made = project(scratch, "program", ROOT, stack=stack)
    try:
        made.run("up", *at_once)
        seconds = taken(_resources(made), path.times.timed, scale=SCALE)
    finally:
        started_sandbox(print, latency=0)
        made.run("destroy", *at_once)
    return ColdUp(path=path, seconds=seconds)


def _as_in_sandbox(step: Step) -> Step:
    return step if takes_time_in_sandbox(step.type) else replace(step, seconds=0.0)


def _resources(made: Project) -> list[dict[str, Any]]:
    said: list[str] = []
    made.run("stack export", said=said)
    return json.loads("\n".join(said))["deployment"]["resources"]


def taken(resources: Iterable[Mapping[str, Any]], timed: Iterable[Timed], *, scale: float) -> float:
    """Return the duration of the update that created the resources of a state, in AWS's seconds.

    The engine records the end of a creation; the first one started earlier by its own duration.
    """
    seconds = {(each.step.type, each.step.name): each.step.seconds for each in timed}
    there = sorted(
        (datetime.fromisoformat(resource["created"]).timestamp(), *_of(resource))
        for resource in resources
        if "created" in resource
    )
    (first, *key), (last, *_) = there[0], there[-1]
    type_, name = key
    return (last - first) / scale + seconds.get((type_, name), 0.0)


def _of(resource: Mapping[str, Any]) -> tuple[str, str]:
    return resource["type"], resource["urn"].rpartition("::")[2]
