"""The stage that compares the nodes of a scheduler with the plan, before any test runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trainyard.verify.verdict import Stage
from trainyard.verify.versions import Versions

_NAME = "inventory"
_MOST_FAULTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What the scheduler knows about the nodes of a test."""

    stage: Stage
    versions: Versions = field(default_factory=dict[str, Mapping[str, str]])


def judge_inventory(faults: Mapping[str, Sequence[str]], *, wanted: int, has: str) -> Stage:
    """Return the stage: it passes if enough nodes are without a fault.

    Args:
        faults: What is wrong with each node; empty for a node as planned.
        wanted: Number of nodes that the test runs on.
        has: What such a node has, for people.
    """
    good = sum(not said for said in faults.values())
    bad = [f"{node} {' and '.join(said)}" for node, said in faults.items() if said]
    more = f"; and {len(bad) - _MOST_FAULTS} more" if len(bad) > _MOST_FAULTS else ""
    listed = f": {'; '.join(bad[:_MOST_FAULTS])}{more}" if bad else ""
    if good >= wanted:
        reason = f"{good} of {len(faults)} nodes are as planned, with {has}{listed}"
        return Stage(name=_NAME, result="pass", reason=reason)
    reason = f"{good} of {wanted} nodes are as planned, with {has}{listed}"
    return Stage(name=_NAME, result="fail", reason=reason)


def no_inventory(reason: str) -> Inventory:
    """Return the inventory of a scheduler that has nothing to compare."""
    return Inventory(stage=Stage(name=_NAME, result="skipped", reason=reason))
