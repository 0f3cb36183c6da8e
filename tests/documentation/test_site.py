"""The documentation site is built as a contributor builds it, and read as a browser reads it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.chromium import CUT_OFF, SCREENS, chromium
from tests.support.tracked import ROOT, tracked
from tools.docs.building import build_site
from tools.docs.navigation import CONTENTS, sections

PAGES = [path for path in tracked(".md") if path.parts[0] == "docs"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; its build fails for a warning, a link that leads nowhere, or a foreign script."""
    return build_site(tmp_path_factory.mktemp("site") / "html", print).parent


def test_the_first_page_leads_to_the_contents(site: Path) -> None:
    (target,) = re.findall(r"url=([^\"]+)", (site / "index.html").read_text())
    assert "How-to guides" in (site / target).read_text()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_the_sidebar_of_every_page_has_the_order_of_the_contents(site: Path, page: Path) -> None:
    html = (site / page).with_suffix(".html").read_text()
    captions = re.findall(r'class="caption-text">([^<]+)<', html)
    text = (ROOT / CONTENTS[0]).with_suffix(".md").read_text()
    assert captions == [section.title for section in sections(CONTENTS[0], text)]
    assert captions == ["Tutorial", "How-to guides", "Reference", "Explanation"]


def test_the_search_finds_the_words_of_a_page_without_a_server(site: Path) -> None:
    index = (site / "searchindex.js").read_text()
    found = json.loads(index.removeprefix("Search.setIndex(").rstrip().removesuffix(")"))
    documents = found["docnames"]
    assert {f"{page.with_suffix('')}" for page in PAGES} <= set(documents)
    with_word = found["terms"]["capacityblockdescribelimitexceed"]  # a number, or several
    numbers = with_word if isinstance(with_word, list) else [with_word]
    assert documents.index("docs/capacity") in numbers


def test_diagrams_are_drawn_without_a_script(site: Path) -> None:
    for page in PAGES:
        diagrams = (ROOT / page).read_text().count("```mermaid\n")
        html = (site / page).with_suffix(".html").read_text()
        assert html.count('<div class="diagram"><svg') == diagrams, page


@pytest.mark.browser
def test_pages_fit_on_a_phone_and_on_a_desktop(site: Path, tmp_path: Path) -> None:
    """The widest pages: of contents, tables, code blocks, and diagrams."""
    pages = ("index", "import", "parity-eks", "pictures", "capacity")
    with chromium(tmp_path) as page:
        for name in pages:
            page.open(site / "docs" / f"{name}.html")
            assert page.value("document.querySelector('h1').textContent"), name
            for screen, size in SCREENS.items():
                page.resize(*size)
                assert page.value(CUT_OFF) == [], f"{name} ({screen})"
        assert [each for each in page.requests if not each.startswith(("file:", "data:"))] == []
