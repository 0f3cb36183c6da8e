"""The order of the site, from the pages that list others: `docs/index.md` and its like.

Such a page is the only place that says which pages belong together and in which order. The sidebar
follows it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

CONTENTS = ("docs/index", "docs/decisions/README")
"""Pages that list others, without the suffix; the first one is the home page."""

_SECTION = re.compile(r"^## +(?P<title>.+)$", re.MULTILINE)
_LISTED = re.compile(r"^- \[(?P<name>[^\]]+)\]\((?P<target>[^)#:]+)\.md\)", re.MULTILINE)
"""A list item that begins with a link to a page; the link is not an address and has no anchor."""


@dataclass(frozen=True, slots=True)
class Section:
    """Pages that belong together."""

    title: str
    """Empty for a page without headings of the second level."""
    pages: Mapping[str, str]
    """Names by path: relative to the root of the repository, without the suffix."""


def sections(page: str, text: str) -> Iterator[Section]:
    """Yield the sections of a page that lists others; only those with pages.

    Args:
        page: Its path relative to the root of the repository.
        text: Its content.
    """
    _, *titled = _SECTION.split(text)
    folder = posixpath.dirname(page)
    parts = list(zip(titled[::2], titled[1::2], strict=True)) or [("", text)]
    for title, part in parts:
        pages = {
            posixpath.normpath(posixpath.join(folder, found["target"])): found["name"]
            for found in _LISTED.finditer(part)
        }
        if pages:
            yield Section(title, pages)


def with_navigation(page: str, text: str) -> str:
    """Return the text of a page that lists others, with hidden tables of contents for Sphinx."""
    return "\n".join([text, *(_toctree(section) for section in sections(page, text))])


def _toctree(section: Section) -> str:
    caption = [f":caption: {section.title}"] if section.title else []
    pages = [f"{name} </{page}>" for page, name in section.pages.items()]
    return "\n".join(["", "```{toctree}", ":hidden:", *caption, "", *pages, "```", ""])
