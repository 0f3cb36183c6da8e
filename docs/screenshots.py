"""Look at every page of a built site in Chromium, at the width of a phone and of a desktop.

`python -m tools.docs --screenshots DIRECTORY` runs it, in the environment of the documentation.
Each page becomes a picture. What a reader would stumble over is printed: a page that is wider than
the screen, a picture that is not shown, a request to the network, a search that finds nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

WIDTHS = {"phone": (390, 844), "desktop": (1440, 900)}
"""Sizes in CSS pixels of a current phone and of a laptop."""
MISSING = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
SEARCH = "search.html?q=reservation"


def problems(browser: Browser, site: Path, pictures: Path) -> Iterator[str]:
    """Yield the problems of all pages; write a picture of each."""
    for name, (width, height) in WIDTHS.items():
        context = browser.new_context(viewport={"width": width, "height": height})
        for path in sorted({*site.rglob("*.html")} - {site / "index.html"}):  # it leads elsewhere
            where = path.relative_to(site)
            page = context.new_page()
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto(path.as_uri(), wait_until="load")
            for found in problems_of(page, width):
                yield f"{where} ({name}): {found}"
            for url in asked:
                if not url.startswith(("file:", "data:")):
                    yield f"{where} ({name}): requests {url}"
            page.screenshot(path=pictures / f"{'-'.join(where.with_suffix('').parts)}-{name}.png")
            page.close()
        context.close()


def problems_of(page: Page, width: int) -> Iterator[str]:
    """Yield what is wrong with the page that is shown."""
    wide = page.evaluate("document.documentElement.scrollWidth")
    if wide > width:
        yield f"is {wide} pixels wide on a screen of {width}"
    for picture in page.evaluate(MISSING):
        yield f"does not show {picture}"


def search_problems(browser: Browser, site: Path) -> Iterator[str]:
    """Yield what is wrong with the search, which works without a server."""
    page = browser.new_page()
    page.goto(f"{site.as_uri()}/{SEARCH}")
    page.wait_for_function("document.querySelector('.search-summary')?.textContent.match(/\\d/)")
    if not page.locator("ul.search li").count():
        yield f"{SEARCH}: finds nothing"
    page.close()


def main() -> int:
    """Look at a site with a Chromium, and write the pictures. Return the exit code."""
    site, pictures, chromium = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium refuses its own sandbox to root, as which containers run.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        found = [*problems(browser, site, pictures), *search_problems(browser, site)]
        browser.close()
    sys.stdout.write("".join(f"{each}\n" for each in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
