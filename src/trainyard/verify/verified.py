"""What a verification has found: the stages, and what they were judged by."""

from __future__ import annotations

from dataclasses import dataclass, field

from trainyard.verify.collective_log import CollectiveLog, read_log
from trainyard.verify.dcgm import judge_dcgm, read_diagnoses
from trainyard.verify.intra_node import judge_intra_node
from trainyard.verify.inventory import Inventory
from trainyard.verify.node_results import OF_ONE_NODE
from trainyard.verify.pairs import judge_pairs, read_pairs
from trainyard.verify.parts import Part, read_parts
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.verdict import Stage, has_failed, judge
from trainyard.verify.versions import Versions, judge_versions, read_versions

_NOT_RUN = (
    "the nodes are not as planned, and the test would wait for them; --nodes runs it on fewer"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """A test of a stack, and its judgement."""

    stack: str
    planned: PlannedTest
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


def verified(
    stack: str,
    planned: PlannedTest,
    text: str | None,
    *,
    inventory: Inventory | None = None,
    minimum_gb_per_second: float | None = None,
) -> Verified:
    """Judge the nodes in the scheduler, and the log of a test or of pairs.

    Args:
        stack: Name of the stack.
        planned: The test and its nodes.
        text: The log; None if no test ran.
        inventory: The nodes in the scheduler; None if they were not read.
        minimum_gb_per_second: Lowest bus bandwidth that the user accepts; None for the published
            one.
    """
    log, alone, pairs = (
        read_log(text or ""),
        read_parts(text or "", "alone"),
        read_pairs(text or ""),
    )
    diagnoses = read_diagnoses(text or "")
    sources = [inventory.versions if inventory else {}, read_versions(text or "")]
    stages = [inventory.stage] if inventory else []
    stages.append(judge_versions(sources, log))
    if pairs:
        stages.append(
            judge_pairs(pairs, planned.nodes, minimum_gb_per_second=minimum_gb_per_second)
        )
    elif diagnoses:
        stages.append(judge_dcgm(diagnoses, planned.nodes))
    elif text is not None:
        stages.append(judge_intra_node(alone, planned.nodes))
        stages += judge(log, planned.nodes, minimum_gb_per_second=minimum_gb_per_second)
    elif inventory and inventory.stage.result == "fail":
        stages.append(Stage(name="test", result="skipped", reason=_NOT_RUN))
    return Verified(
        stack=stack,
        planned=planned,
        stages=tuple(stages),
        log=log,
        alone=alone,
        pairs=pairs,
        minimum_gb_per_second=minimum_gb_per_second,
        versions={component: of for source in sources for component, of in source.items()},
    )
