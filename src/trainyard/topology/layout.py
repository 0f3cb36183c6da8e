"""Where the boxes of a picture and their texts are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trainyard.topology.box import Box, Row

# Widths of texts in Helvetica, and texts cut or wrapped to a width.
#
# Arial, Liberation Sans and Nimbus Sans have the same widths. Pictures set `textLength`, so that
# other fonts of the reader take the measured width too.
#
# Source: Adobe's metrics of the base fonts Helvetica and Helvetica-Bold, as in ReportLab's modules
# `pdfbase/_fontdata_widths_helvetica.py` and `_fontdata_widths_helveticabold.py`. The tables have
# the printable characters of ASCII in their order, in thousandths of the font size.


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


# Where the boxes of a picture are: rows and columns of nested boxes.
#
# No layout library is used. Those for graphs (Graphviz, ELK) place edges, which this picture does
# not have, and are programs of other languages. stretchable, the binding of a flexbox library,
# requires an older version of attrs than Pulumi's other dependencies are locked to. The whole of
# what is needed are two kinds of rows.


PADDING, GAP = 12.0, 10.0
ICON = 18.0
"""Side of the icon in the upper left corner."""
TITLE, CAPTION, LINE = 13.0, 11.0, 12.0
"""Font sizes."""
_CAPTION_HEIGHT, _LINE_HEIGHT = 14.0, 16.0
INTERFACE, _INTERFACE_STEP = 7.0, 9.0
_NARROWEST, _WIDEST_TEXT = 160.0, 268.0
_BADGE_WIDTH = 76.0
"""Space for the mark of a change next to a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A text, with its baseline."""

    text: str
    x: float
    y: float
    size: float
    role: str
    """`title`, `caption`, `line`, or `strong` for what matters most about nodes."""

    @property
    def bold(self) -> bool:
        """Whether it is bold."""
        return self.role in ("title", "strong")

    @property
    def width(self) -> float:
        """Its width."""
        return text_width(self.text, self.size, bold=self.bold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A box with its position."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    labels: tuple[Label, ...]
    interfaces: tuple[tuple[float, float], ...]
    """Upper left corners of the network interfaces."""
    children: tuple[Placed, ...]

    def all(self) -> Iterator[Placed]:
        """Yield the box and all boxes in it, outer ones first."""
        yield self
        for child in self.children:
            yield from child.all()


def place(box: Box, *, width: float) -> Placed:
    """Return the positions of a box at the origin and of all boxes in it.

    Args:
        box: The outermost box.
        width: Wanted width; the picture is wider if its boxes need it.
    """
    return _place(box, 0.0, 0.0, max(width, least_width(box)))


def least_width(box: Box) -> float:
    """Return the width below which the texts of a box and of the boxes in it would be cut."""
    texts = [
        text_width(box.title, TITLE, bold=True) + ICON + 6 + (_BADGE_WIDTH if box.change else 0),
        text_width(box.caption, CAPTION) + ICON + 6,
        *(text_width(each, LINE) for each in box.lines),
    ]
    own = min(max(*texts, _NARROWEST), _WIDEST_TEXT)
    return max(own, *(_least_row_width(row) for row in box.rows), 0.0) + 2 * PADDING


def _least_row_width(row: Row) -> float:
    widths = [least_width(each) for each in row.boxes]
    return max(widths) if row.wraps else sum(widths) + GAP * (len(widths) - 1)


def _place(box: Box, x: float, y: float, width: float) -> Placed:
    inner = width - 2 * PADDING
    labels = tuple(_labels(box, x + PADDING, y + PADDING, inner))
    below = (labels[-1].y if labels else y) + 6
    interfaces = tuple(_interfaces(len(box.interfaces), x + PADDING, below, inner))
    bottom = interfaces[-1][1] + INTERFACE + 4 if interfaces else below
    children: list[Placed] = []
    for row in box.rows:
        for line in _lines(row, inner):
            placed = _place_line(line, x + PADDING, bottom + GAP - 4)
            children += placed
            bottom = placed[0].y + placed[0].height + 4
    height = bottom - y + PADDING - 4
    return Placed(
        box=box,
        x=x,
        y=y,
        width=width,
        height=height,
        labels=labels,
        interfaces=interfaces,
        children=tuple(children),
    )


def _labels(box: Box, x: float, y: float, width: float) -> Iterator[Label]:
    indented, room = x + ICON + 6, width - ICON - 6
    y += TITLE - 1
    title = cut(box.title, room - (_BADGE_WIDTH if box.change else 0), TITLE, bold=True)
    yield Label(text=title, x=indented, y=y, size=TITLE, role="title")
    if box.caption:
        y += _CAPTION_HEIGHT
        yield Label(
            text=cut(box.caption, room, CAPTION), x=indented, y=y, size=CAPTION, role="caption"
        )
    y += 3
    for index, line in enumerate(box.lines):
        strong = box.kind == "nodes" and index == 0
        for text in wrapped(line, width, LINE, bold=strong):
            y += _LINE_HEIGHT
            yield Label(text=text, x=x, y=y, size=LINE, role="strong" if strong else "line")


def _interfaces(count: int, x: float, y: float, width: float) -> Iterator[tuple[float, float]]:
    columns = max(int(width // _INTERFACE_STEP), 1)
    for index in range(count):
        row, column = divmod(index, columns)
        yield x + column * _INTERFACE_STEP, y + 4 + row * _INTERFACE_STEP


def _lines(row: Row, width: float) -> Iterator[list[tuple[Box, float]]]:
    """Yield the boxes of each line of a row, with their widths."""
    boxes = row.boxes
    if not row.wraps:
        yield [*zip(boxes, _shared_widths(boxes, width), strict=True)]
        return
    least = max(least_width(each) for each in boxes)
    columns = min(max(int((width + GAP) // (least + GAP)), 1), len(boxes))
    # As many columns as the number of lines needs, so that the last line is not nearly empty.
    columns = math.ceil(len(boxes) / math.ceil(len(boxes) / columns))
    each_width = (width - GAP * (columns - 1)) / columns
    for first in range(0, len(boxes), columns):
        yield [(box, each_width) for box in boxes[first : first + columns]]


def _shared_widths(boxes: Sequence[Box], width: float) -> list[float]:
    """Return widths that fill a line: what is left is shared by the number of boxes inside."""
    least = [least_width(each) for each in boxes]
    left = width - sum(least) - GAP * (len(boxes) - 1)
    weights = [sum(not inner.rows for inner in each.all()) for each in boxes]
    return [
        narrow + left * weight / sum(weights) for narrow, weight in zip(least, weights, strict=True)
    ]


def _place_line(line: Sequence[tuple[Box, float]], x: float, y: float) -> list[Placed]:
    placed: list[Placed] = []
    for box, width in line:
        placed.append(_place(box, x, y, width))
        x += width + GAP
    height = max(each.height for each in placed)
    return [_stretched(each, height) for each in placed]


def _stretched(placed: Placed, height: float) -> Placed:
    """Return a box with another height; the last subnet of a zone fills it."""
    children = placed.children
    if placed.box.kind == "zone" and children:
        last = children[-1]
        more = height - placed.height
        children = (*children[:-1], replace(last, height=last.height + more))
    return replace(placed, height=height, children=children)
