"""Compare the longest chain of waits of a cold `up` with the unavoidable chain.

Nothing is timed: the graph of a stack follows from its program, and the durations are those of
`sandbox/latency/latencies.yaml`. `tools.benchmarks.cold_up` times a real `up` against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.benchmarks.schedule import Schedule, schedule
from tools.benchmarks.stack_graph import Step, stack_graph
from tools.benchmarks.unavoidable import Chain, unavoidable_chain
from trainyard.engine.engine_process import PARALLEL_OPERATIONS
from trainyard.stack_files.stack_files import stack_names

BUDGET = 1.10

LUSTRE = {
    "kind": "fsx-lustre",
    "deployment_type": "PERSISTENT_2",
    "per_unit_storage_throughput": 125,
    "storage_capacity_gib": 2400,
    "data_repositories": [{"file_system_path": "/a", "s3_path": "s3://training-data/a/"}],
}
OPEN_ZFS = {"kind": "fsx-openzfs", "mount_directory": "/zfs"}
VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "eks-g4dn with Lustre": ("eks-g4dn", {"storage": {"data": LUSTRE}}),
    "pc-trn1 with OpenZFS": ("pc-trn1", {"storage": {"zfs": OPEN_ZFS}}),
}
"""Variants that no stack file has, by name: the stack, and the configuration merged into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalPath:
    """One stack's line of the table."""

    stack: str
    times: Schedule
    chain: Chain

    @property
    def ratio(self) -> float:
        """The duration of the `up` as a multiple of the unavoidable chain."""
        return self.times.seconds / self.chain.seconds

    @property
    def within_budget(self) -> bool:
        """Whether the ratio is at most the budget."""
        return self.ratio <= BUDGET

    def as_json(self) -> dict[str, Any]:
        """Return both chains, for programs."""
        return {
            "stack": self.stack,
            "seconds": self.times.seconds,
            "unavoidable_seconds": self.chain.seconds,
            "ratio": round(self.ratio, 3),
            "budget": BUDGET,
            "within_budget": self.within_budget,
            "critical_path": [_link(each.step) for each in self.times.critical_path],
            "unavoidable": [_link(step) for step in self.chain.links],
        }


def _link(step: Step) -> dict[str, Any]:
    return {"name": step.name, "type": step.type, "seconds": step.seconds}


def cases() -> list[str]:
    """Return every stack, and every variant of one."""
    return [*stack_names(), *VARIANTS]


def critical_path(case: str) -> CriticalPath:
    """Return the line of a stack or of a variant."""
    stack, changes = VARIANTS.get(case, (case, {}))
    return of_steps(case, stack_graph(stack, changes=changes))


def of_steps(name: str, steps: Sequence[Step]) -> CriticalPath:
    """Return the line of a graph."""
    times = schedule(steps, parallel=PARALLEL_OPERATIONS)
    return CriticalPath(stack=name, times=times, chain=unavoidable_chain(steps))


def measure() -> list[CriticalPath]:
    """Return the line of every case."""
    return [critical_path(case) for case in cases()]
