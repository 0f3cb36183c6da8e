"""Which nodes have passed a verification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trainyard.verify.verdict import Stage

OF_ONE_NODE = frozenset({"test", "values", "bandwidth"})
"""Stages of all nodes that one bad node can fail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResults:
    """The tested nodes, by result."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    causes: tuple[str, ...]
    """The failed nodes that a stage names; empty if any node can be the cause."""
    failures: tuple[str, ...]
    """Names of the failed stages."""


def node_results(stages: Sequence[Stage], tested: Iterable[str]) -> NodeResults:
    """Return which nodes have passed.

    If failed stages name nodes, and these can be the cause of all failures, all other nodes pass.
    Otherwise no node passes.

    Args:
        stages: The stages of the verification.
        tested: Names of the tested nodes.
    """
    failed = [stage for stage in stages if stage.result == "fail"]
    causes = {node for stage in failed for node in stage.nodes}
    unexplained = {stage.name for stage in failed if not stage.nodes} - OF_ONE_NODE
    nodes = set(tested)
    if not failed:
        bad: set[str] = set()
    elif causes and causes <= nodes and not unexplained:
        bad = causes
    else:
        bad, causes = nodes, set()
    return NodeResults(
        passed=tuple(sorted(nodes - bad)),
        failed=tuple(sorted(bad)),
        causes=tuple(sorted(causes)),
        failures=tuple(stage.name for stage in failed),
    )
