"""Widths of texts in Helvetica, and texts cut or wrapped to a width.

Arial, Liberation Sans and Nimbus Sans have the same widths. Pictures set `textLength`, so that
other fonts of the reader take the measured width too.

Source: Adobe's metrics of the base fonts Helvetica and Helvetica-Bold, as in ReportLab's modules
`pdfbase/_fontdata_widths_helvetica.py` and `_fontdata_widths_helveticabold.py`. The tables have the
printable characters of ASCII in their order, in thousandths of the font size.
"""

from __future__ import annotations

from collections.abc import Iterator

_REGULAR = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 "
    "556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 "
    "556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 "
    "556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 "
    "500 500 500 334 260 334 584"
)
_BOLD = (
    "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 "
    "556 556 556 556 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 "
    "611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 "
    "611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 "
    "556 556 500 389 280 389 584"
)
_FURTHER = {"±": 584, "…": 1000}
_WIDEST = 1015
"""Width of `@`; for characters that the tables do not have."""
ELLIPSIS = "…"


def _table(widths: str) -> dict[str, int]:
    return {chr(32 + index): int(each) for index, each in enumerate(widths.split())} | _FURTHER


_WIDTHS = {False: _table(_REGULAR), True: _table(_BOLD)}


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text, in the unit of the font size."""
    widths = _WIDTHS[bold]
    return sum(widths.get(each, _WIDEST) for each in text) * size / 1000


def cut(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """Return the text, or its beginning and its end if it is wider.

    Both ends tell names apart: `cr-0123…cdef0`.
    """
    if text_width(text, size, bold=bold) <= width:
        return text
    for kept in range(len(text) - 1, 1, -1):
        end = kept // 3
        short = text[: kept - end].rstrip() + ELLIPSIS + text[len(text) - end :].lstrip()
        if text_width(short, size, bold=bold) <= width:
            return short
    return ELLIPSIS


def wrapped(text: str, width: float, size: float, *, bold: bool = False) -> Iterator[str]:
    """Yield the lines of a text that is wrapped between words; a longer word is cut."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if text_width(longer, size, bold=bold) <= width:
            line = longer
            continue
        if line:
            yield line
        line = cut(word, width, size, bold=bold)
    if line:
        yield line
