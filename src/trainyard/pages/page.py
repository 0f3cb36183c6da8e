"""A report as one HTML page: no request to the network, no secret, in light and dark mode."""

from __future__ import annotations

import html
from collections.abc import Sequence

from trainyard.components.secret_text import without_secrets

_STYLE = """\
:root { color-scheme: light dark; font-family: sans-serif; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
td, th { text-align: left; padding: 0.2rem 1rem 0.2rem 0; vertical-align: top; }
.pass, .confirmed { color: #2a7; } .fail, .stopped, .contradicted { color: #d33; }
.skipped { color: #888; }
.error, .deleted { color: #d33; } .warning, .changed { color: #b80; }
.created { color: #2a7; } .replaced { color: #96d; }
details { margin: 0.4rem 0; } summary { cursor: pointer; font-weight: bold; }
summary:focus-visible, .wide:focus-visible { outline: 3px solid #48f; }
"""


def page(title: str, *parts: str) -> str:
    """Return a page.

    Args:
        title: Its title and heading.
        parts: HTML that follows.
    """
    body = "\n".join(part for part in parts if part)
    return without_secrets(
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escaped(title)}</title>\n<style>\n{_STYLE}</style>\n"
        f"<h1>{escaped(title)}</h1>\n{body}\n</html>\n"
    )


def escaped(text: str) -> str:
    """Return a text as HTML, without secrets, which the quotes of HTML would conceal."""
    return html.escape(without_secrets(text))


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{escaped(text)}</p>"


def wide(content: str, *, label: str) -> str:
    """Return HTML that scrolls if it is wider than the page, also with the keyboard."""
    said = escaped(label)
    return f'<div class="wide" tabindex="0" role="region" aria-label="{said}">\n{content}</div>'


def details(summary: str, content: str, *, anchor: str = "") -> str:
    """Return HTML that is hidden until the reader opens it, or follows a link to the anchor."""
    # A browser opens the element for a link to something inside it.
    inside = f'<div id="{html.escape(anchor)}">{content}</div>' if anchor else content
    return f"<details><summary>{escaped(summary)}</summary>\n{inside}</details>"


def section(title: str, content: str) -> str:
    """Return a part with its heading; empty without content."""
    return f"<h2>{escaped(title)}</h2>\n{content}" if content else ""


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, results: Sequence[str] = ()
) -> str:
    """Return a table of plain text.

    Args:
        header: Titles of the columns.
        rows: Cells of each row.
        results: Result of each row, such as `pass`, which is its color.
    """
    classes = results or [""] * len(rows)
    head = "".join(f"<th>{escaped(each)}</th>" for each in header)
    body = "\n".join(
        f'<tr class="{html.escape(kind)}">'
        + "".join(f"<td>{escaped(each)}</td>" for each in row)
        + "</tr>"
        for row, kind in zip(rows, classes, strict=True)
    )
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'
