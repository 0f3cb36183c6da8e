"""`docs/faults.md` shows the tables that the tests run."""

from __future__ import annotations

import re

import pytest

from tests.support.faults.places import tables
from tests.support.tracked import ROOT

PAGE = ROOT / "docs" / "faults.md"


def test_the_page_has_the_tables_of_the_tests(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, table in tables().items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        assert pattern.search(text), f"docs/faults.md has no place for the table {name}"
        wanted = pattern.sub(lambda found, table=table: found[1] + table + found[2], text)
        if request.config.getoption("--update-goldens"):
            text = wanted
        assert text == wanted, "docs/faults.md is old; run pytest with --update-goldens"
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(text, encoding="utf-8")
