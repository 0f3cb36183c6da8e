"""What a test of `verify` found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from trainyard.verify.collective_log import CollectiveLog, read_log
from trainyard.verify.node_marks import OF_ONE_NODE
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.stages import Part, Stage, Versions, has_failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A test of a stack, and its judgement."""

    stack: str
    planned: PlannedTest[Any]
    stages: tuple[Stage, ...]
    """In the order in which a reader looks for the cause."""
    log: CollectiveLog = field(default_factory=lambda: read_log(""))
    alone: tuple[Part, ...] = ()
    """The tests of each node alone."""
    pairs: tuple[Part, ...] = ()
    tested: frozenset[str] = frozenset()
    """EKS: names of the nodes on which all tests have run."""
    versions: Versions = field(default_factory=dict[str, dict[str, str]])
    minimum_gb_per_second: float | None = None
    """Lowest bus bandwidth that the user accepts; None for the published one."""

    @property
    def passed(self) -> bool:
        """Whether no stage failed."""
        return not has_failed(self.stages)

    @property
    def has_test(self) -> bool:
        """Whether a test of all nodes was judged."""
        return any(each.name == "test" and each.result != "skipped" for each in self.stages)

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts in the logs; those of Slurm have the names of the nodes."""
        return self.log.nodes.union(*(part.nodes for part in (*self.alone, *self.pairs)))

    @property
    def needs_pairs(self) -> bool:
        """Whether a test of pairs could tell which node is the cause of a failure."""
        failed = {each.name for each in self.stages if each.result == "fail"}
        return self.planned.nodes.count > 2 and bool(failed & OF_ONE_NODE)
