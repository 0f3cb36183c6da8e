"""A report as one HTML page: no request to the network, no secret, in light and dark mode."""

from __future__ import annotations

import html
from collections.abc import Sequence

from components.secret_text import without_secrets

_STYLE = """\
:root { color-scheme: light dark; font-family: sans-serif; }
table { border-collapse: collapse; } .wide { overflow-x: auto; }
td, th { text-align: left; padding: 0.2rem 1rem 0.2rem 0; vertical-align: top; }
.pass, .confirmed { color: #2a7; } .fail, .stopped, .contradicted { color: #d33; }
.skipped { color: #888; }
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
        f"<title>{html.escape(title)}</title>\n<style>\n{_STYLE}</style>\n"
        f"<h1>{html.escape(title)}</h1>\n{body}\n</html>\n"
    )


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{html.escape(text)}</p>"


def section(title: str, content: str) -> str:
    """Return a part with its heading; empty without content."""
    return f"<h2>{html.escape(title)}</h2>\n{content}" if content else ""


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
    head = "".join(f"<th>{html.escape(each)}</th>" for each in header)
    body = "\n".join(
        f'<tr class="{html.escape(kind)}">'
        + "".join(f"<td>{html.escape(each)}</td>" for each in row)
        + "</tr>"
        for row, kind in zip(rows, classes, strict=True)
    )
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{body}\n</table></div>'
