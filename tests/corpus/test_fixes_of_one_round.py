"""A user who makes every printed fix once has a stack file that passes."""

from __future__ import annotations

import pytest

from tests.support.corpus.case import Case, broken
from tests.support.printed_fixes import (
    left_after_one_round,
    problems_of,
    values_already_there,
)

BROKEN = [each for each in broken() if each.stage in {"schema", "plan"} and not each.noted]
NEEDS_A_DECISION = frozenset(
    {
        "new-lustre-for-two-subnets",  # which subnet
        "reservation-that-is-a-text",  # which kind of reservation
        "taints-as-a-mapping",  # which effect
    }
)
"""Cases whose fix only the user knows, so that no command can make it."""


@pytest.mark.parametrize(
    "case",
    [each for each in BROKEN if each.name not in NEEDS_A_DECISION],
    ids=lambda each: each.name,
)
def test_one_round_of_the_printed_fixes_is_enough(case: Case) -> None:
    assert problems_of(case.raw, case.stack_file)
    assert left_after_one_round(case.raw, case.stack_file) == []


def test_at_least_97_percent_of_the_broken_files_need_one_round_only() -> None:
    assert {each.name for each in BROKEN} >= NEEDS_A_DECISION
    assert len(NEEDS_A_DECISION) <= 0.03 * len(BROKEN)


@pytest.mark.parametrize("case", BROKEN, ids=lambda each: each.name)
def test_no_fix_is_the_value_that_is_there(case: Case) -> None:
    assert list(values_already_there(case.raw, case.stack_file)) == []
