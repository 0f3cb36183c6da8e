"""The page of changes is generated from the goldens, and covers every key of the schema."""

import pytest

from tests.support.changes.bases import NAMES, edits_of
from tests.support.changes.table import GOLDENS, PAGE, page


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.support.changes.table`"


def test_every_stack_has_a_golden_and_every_golden_a_stack():
    wanted = {f"{name.replace(' ', '-')}.txt" for name in NAMES}
    assert {path.name for path in GOLDENS.glob("*.txt")} == wanted


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_has_every_change(name):
    text = (GOLDENS / f"{name.replace(' ', '-')}.txt").read_text(encoding="utf-8")
    lines = set(text.splitlines())
    assert {edit.line for edit in edits_of(name)} <= lines
