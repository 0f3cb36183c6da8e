"""Build the site with Sphinx, in the environment of its lock, and check its pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.lock import DOCS
from tools.repository import ROOT
from trainyard.sandbox.engine.locked_environment import locked_python
from trainyard.sandbox.engine.progress import Progress

# Check the pages of a built site: its links lead somewhere, and it needs no network.
#
# Sphinx checks the links of the sources. This module checks what a browser gets: the links that the
# theme, the sidebar and raw HTML add, and what a page would load from elsewhere.


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


SITE = ROOT / ".trainyard" / "site"
"""Where the site is, if no other directory is named."""


class SiteError(Exception):
    """The site has warnings or problems; the message lists all of them."""


def docs_python(report: Progress) -> Path:
    """Return the interpreter with Sphinx.

    Raises:
        EngineError: it does not exist and cannot be created.
    """
    return locked_python(ROOT / DOCS.path, "the documentation", report)


def build_site(directory: Path, report: Progress) -> Path:
    """Build the site, check it, and return its first page.

    Args:
        directory: Becomes the site; a site that was built there before is replaced.
        report: Receives progress messages.

    Raises:
        EngineError: the environment of Sphinx cannot be created.
        SiteError: Sphinx warned, or the pages have links that lead nowhere.
        FileExistsError: the directory has something else.
    """
    if directory.exists():
        if not (directory / "searchindex.js").exists() and any(directory.iterdir()):
            raise FileExistsError(f"{directory} is not a site that was built before")
        shutil.rmtree(directory)
    done = subprocess.run(
        [
            *(str(docs_python(report)), "-m", "sphinx", "--builder", "html"),
            *("--conf-dir", "docs", "--doctree-dir", str(directory.with_suffix(".doctrees"))),
            *("--fresh-env", "--fail-on-warning", "--quiet", ".", str(directory)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(directory.with_suffix(".doctrees"), ignore_errors=True)
    if done.returncode:
        raise SiteError(f"{done.stdout}{done.stderr}".strip())
    found = list(problems(directory))
    if found:
        raise SiteError("\n".join(found))
    return directory / "index.html"
