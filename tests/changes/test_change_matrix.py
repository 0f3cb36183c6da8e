"""Updates that change one key, for every key of every stack file: snapshots, and a guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.support.changes.bases import NAMES, base, edits_of
from tests.support.changes.guarantee import is_accepted, surges, unannounced
from tests.support.changes.report import report
from tests.support.changes.rows import Row, row
from tests.support.stacks import account_facts


@dataclass(frozen=True, slots=True)
class Matrix:
    """All changes of one stack."""

    name: str
    rows: Sequence[Row]

    @property
    def accepted(self) -> Sequence[Row]:
        return [each for each in self.rows if is_accepted(each)]


def slug(name: str) -> str:
    return name.replace(" ", "-")


@pytest.fixture(scope="module", params=[pytest.param(n, id=f"@{slug(n)}@") for n in NAMES])
def matrix(request: pytest.FixtureRequest) -> Matrix:
    stack = base(request.param)
    return Matrix(request.param, [row(edit, stack) for edit in edits_of(request.param)])


def test_what_each_change_does_is_the_golden(golden, matrix: Matrix) -> None:
    golden(f"changes/{slug(matrix.name)}.txt", report(matrix.name, matrix.rows))


def test_no_change_needs_more_nodes_than_a_reservation_has(matrix: Matrix) -> None:
    reservations = account_facts().reservations
    assert [found for each in matrix.accepted if (found := surges(each, reservations))] == []


def test_no_change_ends_nodes_in_reserved_capacity_without_their_name(matrix: Matrix) -> None:
    found = {each.edit.line: lost for each in matrix.accepted if (lost := unannounced(each))}
    assert found == {}
