"""The page of changes is generated from the golden, which covers every key of the schema."""

import pytest

from tests.support.changes.bases import NAMES, edits_of, raw_of
from tests.support.changes.golden import PATH, read, text_of
from tests.support.changes.names import Names, change_of
from tests.support.changes.table import PAGE, page


def test_the_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.support.changes.table`"


def test_the_golden_is_as_update_goldens_writes_it():
    assert PATH.read_text(encoding="utf-8") == text_of(read())


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_has_every_change_of_a_stack_and_no_other(name):
    found = {(line.key, line.change) for line in read() if name in line.stacks}
    wanted = {
        (names.key, change_of(edit, names))
        for edit in edits_of(name)
        for names in [Names(raw_of(name), edit.path)]
    }
    assert found == wanted
