"""Check the pages of a built site: its links lead somewhere, and it needs no network.

Sphinx checks the links of the sources. This module checks what a browser gets: the links that the
theme, the sidebar and raw HTML add, and what a page would load from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Elements that a browser loads, with the attribute that names what."""
_FOREIGN_IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)")


class _Page(HTMLParser):
    """The links, the anchors and the loaded files of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        """Take what one element names."""
        values = {name: value for name, value in attrs if value}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in _LOADED and _LOADED[tag] in values:
            self.loaded.append(values[_LOADED[tag]])


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with a site, each with its page."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in page.loaded:
            if _is_foreign(target):
                yield f"{name}: loads {target} from the network"
        for target in [*page.links, *page.loaded]:
            if not (_is_foreign(target) or _exists(target, path, pages)):
                yield f"{name}: {target} leads nowhere"
    for path in sorted(site.rglob("*.css")):
        for target in _FOREIGN_IN_STYLE.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)}: loads {target} from the network"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _is_foreign(target: str) -> bool:
    address = urlsplit(target)
    return bool(address.netloc) or address.scheme in ("http", "https", "mailto")


def _exists(target: str, path: Path, pages: dict[Path, _Page]) -> bool:
    address = urlsplit(target)
    if address.scheme:  # such as `data:`
        return True
    file = (path.parent / unquote(address.path)).resolve() if address.path else path
    if not file.is_file():
        return False
    return not address.fragment or file not in pages or address.fragment in pages[file].anchors
