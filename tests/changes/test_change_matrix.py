"""Snapshots of updates that change one key, for every key of every stack file."""

import pytest

from tests.support.changes.bases import NAMES, base, edits_of
from tests.support.changes.report import report
from tests.support.changes.rows import row


@pytest.mark.parametrize("name", NAMES)
def test_what_each_change_does_is_the_golden(golden, name):
    stack = base(name)
    rows = [row(edit, stack) for edit in edits_of(name)]
    golden(f"changes/{name.replace(' ', '-')}.txt", report(name, rows))
