"""Updates that change one key, for every key of every stack file: a snapshot, and a guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from tests.support.changes import golden
from tests.support.changes.guarantee import is_accepted, surges, unannounced
from tests.support.changes.matrix import PARTS, Answer, answers, lines, part_of
from tests.support.changes.rows import Row
from tests.support.stacks import account_facts


@dataclass(frozen=True, slots=True)
class Matrix:
    """The changes of one part of the matrix."""

    part: str
    answers: Sequence[Answer]

    @property
    def accepted(self) -> Sequence[Row]:
        return [each.row for each in self.answers if is_accepted(each.row)]


@pytest.fixture(scope="module", params=[pytest.param(part, id=f"@{part}@") for part in PARTS])
def matrix(request: pytest.FixtureRequest) -> Matrix:
    return Matrix(request.param, answers(request.param))


def test_what_each_change_does_is_the_golden(
    request: pytest.FixtureRequest, matrix: Matrix
) -> None:
    found = lines(matrix.part, matrix.answers)
    if request.config.getoption("--update-goldens"):
        write(matrix.part, found)
    recorded = [line for line in golden.read() if is_in(matrix.part, line)]
    assert golden.text_of(found) == golden.text_of(recorded), (
        "differs from tests/goldens/changes.tsv; if that is meant, run pytest with --update-goldens"
    )


def is_in(part: str, line: golden.Line) -> bool:
    return part_of(line.architecture, line.key) == part


def write(part: str, found: Sequence[golden.Line]) -> None:
    """Replace a part of the golden; parallel processes would undo the work of others."""
    others = [line for line in golden.read() if not is_in(part, line)]
    golden.write([*others, *found])


def test_no_change_needs_more_nodes_than_a_reservation_has(matrix: Matrix) -> None:
    reservations = account_facts().reservations
    assert [found for each in matrix.accepted if (found := surges(each, reservations))] == []


def test_no_change_ends_nodes_in_reserved_capacity_without_their_name(matrix: Matrix) -> None:
    found = {each.edit.line: lost for each in matrix.accepted if (lost := unannounced(each))}
    assert found == {}
