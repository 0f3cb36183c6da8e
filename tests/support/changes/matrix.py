"""All changes of all stacks, where stacks that must answer alike are computed once."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.changes.bases import NAMES, base, edits_of, kind_of, raw_of
from tests.support.changes.edits import Edit
from tests.support.changes.golden import Line
from tests.support.changes.likeness import likeness
from tests.support.changes.names import Names, change_of
from tests.support.changes.report import lines_of
from tests.support.changes.rows import Row, planned, refused, update
from trainyard.components.config.problems import ConfigError
from trainyard.components.eks.plan import EksPlan

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

POOLS = "eks-node-groups"
PARTS = ("eks", POOLS, "parallelcluster", "batch", "network")
"""The architectures, with half of the changes of EKS as another part, which tests run in parallel:
those that take longest first."""


def part_of(architecture: str, key: str) -> str:
    """Return the part of a change of a key."""
    pools = architecture == "eks" and key.startswith("architecture.node_groups.")
    return POOLS if pools else architecture


@dataclass(frozen=True, slots=True)
class Answer:
    """A change, and the stacks in which it has the same effects."""

    row: Row
    names: Names
    stacks: tuple[str, ...]

    @property
    def effects(self) -> tuple[str, ...]:
        """The effects as text."""
        return tuple(lines_of(self.row, self.names.without))


@dataclass(frozen=True, slots=True)
class _Change:
    stack: str
    edit: Edit
    names: Names
    plan: AnyPlan | ConfigError


def answers(part: str) -> Sequence[Answer]:
    """Return the changes of a part."""
    alike: dict[Hashable, list[_Change]] = {}
    for change in _changes(part):
        alike.setdefault(_likeness(change), []).append(change)
    return [_answer(changes) for changes in alike.values()]


def _changes(part: str) -> Iterator[_Change]:
    for stack in NAMES:
        raw = raw_of(stack)
        for edit in edits_of(stack):
            names = Names(raw, edit.path)
            if part_of(kind_of(stack), names.key) == part:
                yield _Change(stack, edit, names, _outcome(stack, edit))


def _outcome(stack: str, edit: Edit) -> AnyPlan | ConfigError:
    up = base(stack)
    try:
        return planned(edit.raw, up.name, up.facts)
    except ConfigError as error:
        return error


def _likeness(change: _Change) -> Hashable:
    same, plan, before = None, change.plan, base(change.stack).plan
    # Where no resource changes, and for other architectures, an answer costs too little to share.
    if isinstance(plan, EksPlan) and isinstance(before, EksPlan) and plan != before:
        same = likeness(before, plan)
    key = (change.names.key, change_of(change.edit, change.names))
    return (*key, same) if same is not None else (*key, change.stack, change.edit.line)


def _answer(changes: Sequence[_Change]) -> Answer:
    """Return the answer of one of the stacks that answer alike.

    It has no network of its own, if there is such a one, which takes a third less time, and a short
    name, because with long ones the names of some resources are cut.
    """
    one = min(changes, key=lambda change: (_has_network(change), len(change.stack)))
    row = (
        refused(one.edit, one.plan)
        if isinstance(one.plan, ConfigError)
        else update(one.edit, base(one.stack), one.plan)
    )
    return Answer(row, one.names, tuple(change.stack for change in changes))


def _has_network(change: _Change) -> bool:
    return change.names.raw["network"]["kind"] == "new-vpc"


def lines(part: str, found: Sequence[Answer]) -> Sequence[Line]:
    """Return the lines of a part of the golden, sorted."""
    stacks: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for answer in found:
        change = change_of(answer.row.edit, answer.names)
        stacks.setdefault((answer.names.key, change, answer.effects), set()).update(answer.stacks)
    architecture = "eks" if part == POOLS else part
    return sorted(
        Line(architecture, *what, tuple(stack for stack in NAMES if stack in holds))
        for what, holds in stacks.items()
    )
