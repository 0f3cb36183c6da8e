"""The order of the site is that of the pages which list others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tracked import ROOT, tracked
from tools.docs.building import build_site
from tools.docs.navigation import CONTENTS, sections, with_navigation

LISTING = """# Contents

Text with a [link](other.md).

## First

- [A page](a.md): what it is for.
- [The start](../README.md)
- [A part](a.md#part), [elsewhere](https://example.com/a.md)

## Empty

## Last

- [Deeper](below/README.md)
"""


def test_list_items_that_begin_with_a_page_are_the_order() -> None:
    assert [(each.title, each.pages) for each in sections("docs/index", LISTING)] == [
        ("First", {"docs/a": "A page", "README": "The start"}),
        ("Last", {"docs/below/README": "Deeper"}),
    ]


def test_the_sidebar_has_the_names_of_the_list() -> None:
    text = with_navigation("docs/index", LISTING)
    assert text.startswith(LISTING)
    assert ":caption: First\n\nA page </docs/a>\nThe start </README>\n```" in text


def test_a_list_without_sections_is_one_section() -> None:
    (section,) = sections("docs/decisions/README", "# Decisions\n\n- [1. One](0001-one.md)\n")
    assert (section.title, section.pages) == ("", {"docs/decisions/0001-one": "1. One"})


def test_every_page_is_listed_once() -> None:
    listed = [
        page
        for contents in CONTENTS
        for section in sections(contents, (ROOT / f"{contents}.md").read_text())
        for page in section.pages
    ]
    pages = {str(path.with_suffix("")) for path in tracked(".md") if path.parts[0] == "docs"}
    assert len(listed) == len(set(listed))
    assert pages - set(listed) == {"docs/index"}


def test_a_directory_with_other_files_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(FileExistsError):
        build_site(tmp_path, print)
    assert (tmp_path / "thesis.tex").exists()
