"""A picture as SVG, in light and dark mode: where its boxes and texts are, and its legend."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from trainyard.components.secret_text import without_secrets
from trainyard.topology.box import Box, BoxRow, Change, Kind

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
_WIDEST_GLYPH = 1015
"""Width of `@`; for characters that the tables do not have."""
ELLIPSIS = "…"


def _table(widths: str) -> dict[str, int]:
    return {chr(32 + index): int(each) for index, each in enumerate(widths.split())} | _FURTHER


_GLYPH_WIDTHS = {False: _table(_REGULAR), True: _table(_BOLD)}


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text, in the unit of the font size."""
    widths = _GLYPH_WIDTHS[bold]
    return sum(widths.get(each, _WIDEST_GLYPH) for each in text) * size / 1000


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


def _least_row_width(row: BoxRow) -> float:
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


def _lines(row: BoxRow, width: float) -> Iterator[list[tuple[Box, float]]]:
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


# Colors and icons of the boxes.
#
# The colors of groups and services are those that AWS uses in its diagrams:
# https://aws.amazon.com/architecture/icons/. The icons are drawn for this project.


_LIGHT: Mapping[Kind, str] = {
    "region": "#147eba",
    "service": "#c7126b",
    "control-plane": "#c2540a",
    "vpc": "#7a3fe0",
    "network": "#7a3fe0",
    "zone": "#147eba",
    "public-subnet": "#5c7d0f",
    "private-subnet": "#087f80",
    "reservation": "#5a6474",
    "queue": "#c2540a",
    "nodes": "#c2540a",
    "storage": "#4f7010",
}
_DARK: Mapping[Kind, str] = {
    "region": "#5bb0e6",
    "service": "#ff6fae",
    "control-plane": "#ff9d57",
    "vpc": "#b393ff",
    "network": "#b393ff",
    "zone": "#5bb0e6",
    "public-subnet": "#a6cf45",
    "private-subnet": "#3fc7c8",
    "reservation": "#a3adbd",
    "queue": "#ff9d57",
    "nodes": "#ff9d57",
    "storage": "#a6cf45",
}
SIGNS: Mapping[Change, str] = {"created": "+", "changed": "~", "replaced": "±", "deleted": "-"}
"""A sign for each change, because colors alone do not reach everyone."""
_CHANGES: Mapping[Change, tuple[str, str]] = {
    "created": ("#1a7f37", "#3fb950"),
    "changed": ("#9a6700", "#d29922"),
    "replaced": ("#8250df", "#bc8cff"),
    "deleted": ("#cf222e", "#ff7b72"),
}
ICONS: Mapping[Kind, str] = {
    "region": "M9 3a6 6 0 1 0 .01 0zM3 9h12M9 3c-4 4-4 8 0 12M9 3c4 4 4 8 0 12",
    "service": "M3 14h12M4 12l3-4 3 2 4-6",
    "control-plane": "M9 3l5.2 3v6L9 15l-5.2-3V6zM9 9v6M9 9l5.2-3M9 9L3.8 6",
    "vpc": "M6 13a3 3 0 0 1 0-6 4 4 0 0 1 7.4 1A2.6 2.6 0 0 1 13 13z",
    "network": "M9 3v4M4 11v4M14 11v4M4 11h10M9 7v4",
    "zone": "M4 15V6l5-3 5 3v9zM7 15v-4h4v4",
    "public-subnet": "M5 8.5h8V15H5zM6.5 8.5V6a2.5 2.5 0 0 1 4.8-1",
    "private-subnet": "M5 8.5h8V15H5zM6.5 8.5V6a2.5 2.5 0 0 1 5 0v2.5",
    "reservation": "M4 5h10v10H4zM4 8h10M7 3v3M11 3v3",
    "queue": "M4 5h10M4 9h10M4 13h6",
    "nodes": "M5 5h8v8H5zM7 2v3M11 2v3M7 13v3M11 13v3M2 7h3M2 11h3M13 7h3M13 11h3",
    "storage": "M4 5c0-2.5 10-2.5 10 0v8c0 2.5-10 2.5-10 0zM4 5c0 2.5 10 2.5 10 0",
}
"""Lines in a square of 18."""


_SHAPES = """\
.topology { font-family: Helvetica, Arial, "Liberation Sans", "Nimbus Sans", sans-serif;
  text-rendering: geometricPrecision }
.topology .frame { stroke-width: 1.2 }
.topology .outside > .frame { stroke-dasharray: 5 4 }
.topology .created > .frame, .topology .changed > .frame, .topology .replaced > .frame,
.topology .deleted > .frame { stroke-width: 2.5 }
.topology .deleted > .frame { stroke-dasharray: 2 3 }
.topology .icon { fill: none; stroke-width: 1.4; stroke-linejoin: round }
.topology .efa-only { fill: none; stroke-width: 1.5 }
.topology .title, .topology .strong, .topology .badge-text { font-weight: bold }
.topology a:focus-visible { outline: none }
.topology a:focus-visible > .frame, .topology a:hover > .frame { stroke-width: 3.5 }
"""
_LIGHT_PAPER = """\
.topology .paper, .topology .frame, .topology .badge-text { fill: #ffffff }
.topology .public-subnet > .frame { fill: #f5f9ea }
.topology .private-subnet > .frame { fill: #ecf7f7 }
.topology .outside > .frame { fill: #f4f6f9 }
.topology .title, .topology .strong, .topology .line { fill: #1f2733 }
.topology .caption { fill: #57606c }
.topology .interface { fill: #8a94a3 }
"""
_DARK_PAPER = """\
.topology .paper, .topology .badge-text { fill: #0d1117 }
.topology .frame { fill: #161c26 }
.topology .public-subnet > .frame { fill: #171d10 }
.topology .private-subnet > .frame { fill: #0e1d1f }
.topology .outside > .frame { fill: #10151c }
.topology .title, .topology .strong, .topology .line { fill: #e6edf3 }
.topology .caption { fill: #9aa4b0 }
.topology .interface { fill: #768390 }
"""


def style_sheet() -> str:
    """Return the style of a picture; all rules are inside `.topology`.

    It has no custom properties, which programs that convert SVG do not know.
    """
    return (
        f"{_SHAPES}{_LIGHT_PAPER}{_edges(_LIGHT, dark=False)}"
        f"@media (prefers-color-scheme: dark) {{\n{_DARK_PAPER}{_edges(_DARK, dark=True)}}}\n"
    )


def _edges(kinds: Mapping[Kind, str], *, dark: bool) -> str:
    changes = {change: colors[dark] for change, colors in _CHANGES.items()}
    # The color of a change comes last, so that it is that of the frame.
    return "".join(_edge(name, color) for name, color in {**kinds, **changes}.items())


def _edge(name: str, color: str) -> str:
    inside = f".topology .{name} >"
    return (
        f"{inside} .frame, {inside} .icon, {inside} .efa-only {{ stroke: {color} }}\n"
        f"{inside} .efa, {inside} .badge {{ fill: {color} }}\n"
    )


_GAP = 22.0
_INTERFACES = {
    "interface": "network interface without EFA",
    "efa-only": "EFA without an IP address",
    "efa": "EFA with an IP address",
}


def legend(box: Box, x: float, y: float) -> Iterator[str]:
    """Yield the legend of a picture, in one line with the baseline `y`."""
    for shape, text in _entries(box):
        width = text_width(text, CAPTION)
        yield shape.format(x=f"{x:.1f}", y=f"{y - 10:.1f}", small=f"{y - 8:.1f}")
        yield (
            f'<text class="caption" x="{x + 24:.1f}" y="{y:.1f}" font-size="{CAPTION:g}" '
            f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{text}</text>'
        )
        x += 24 + width + _GAP


def _entries(box: Box) -> Iterator[tuple[str, str]]:
    frame = '<rect class="frame" x="{x}" y="{y}" width="18" height="12" rx="3"/>'
    yield f'<g class="reservation">{frame}</g>', "created by the stack"
    yield f'<g class="reservation outside">{frame}</g>', "outside the stack"
    used = {kind for each in box.all() for kind in each.interfaces}
    for kind, text in _INTERFACES.items():
        if kind in used:
            side = f'width="{INTERFACE:g}" height="{INTERFACE:g}" rx="1"'
            yield (
                f'<g class="nodes"><rect class="{kind}" x="{{x}}" y="{{small}}" {side}/></g>',
                text,
            )
    changes: list[Change] = [each.change for each in box.all() if each.change]
    for change in SIGNS:
        if change in changes:
            yield f'<g class="{change}">{frame}</g>', f"{SIGNS[change]} {change}"


# A picture as SVG, in light and dark mode, with a text for each box for screen readers.
#
# Sources:
#     https://www.w3.org/TR/SVG2/text.html#TextElementTextLengthAttribute
#     https://www.w3.org/TR/svg-aam-1.0/


_MARGIN, _HEAD, _FOOT = 16.0, 44.0, 34.0
_HEADING = 18.0
_WIDTHS = ((3, 940.0), (9, 1240.0))
"""Width of a picture with at most so many boxes of nodes."""
_WIDEST = 1640.0


def draw(box: Box, *, title: str, linked: bool = False) -> str:
    """Return the SVG of a picture.

    Args:
        box: The outermost box.
        title: Its heading.
        linked: Whether boxes with an anchor are links to the sections of the page around it.
    """
    nodes = sum(each.kind == "nodes" for each in box.all())
    wanted = next((width for most, width in _WIDTHS if nodes <= most), _WIDEST)
    placed = place(box, width=wanted)
    width, height = placed.width + 2 * _MARGIN, placed.height + _HEAD + _FOOT
    parts = (
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="topology" role="group" '
            f'aria-label={quoteattr(title)} width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}">'
        ),
        f"<title>{escape(title)}</title>",
        f"<style>\n{style_sheet()}</style>",
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
        _text(Label(text=title, x=_MARGIN, y=28, size=_HEADING, role="title")),
        f'<g transform="translate({_MARGIN:g} {_HEAD:g})">',
        *_boxes(placed, linked=linked),
        "</g>",
        *legend(box, _MARGIN, height - 14),
        "</svg>",
    )
    return without_secrets("\n".join(parts) + "\n")


def _boxes(placed: Placed, *, linked: bool) -> Iterator[str]:
    box = placed.box
    classes = " ".join(
        [
            "box",
            box.kind,
            *(["outside"] if box.outside else []),
            *([box.change] if box.change else []),
        ]
    )
    said = quoteattr(description(box))
    if linked and box.anchor:
        yield f'<a href="#{escape(box.anchor)}" class="{classes}" aria-label={said}>'
    else:
        yield f'<g class="{classes}" role="group" aria-label={said}>'
    yield f"<title>{escape(description(box))}</title>"
    yield (
        f'<rect class="frame" x="{placed.x:.1f}" y="{placed.y:.1f}" width="{placed.width:.1f}" '
        f'height="{placed.height:.1f}" rx="{3 if box.rows else 6}"/>'
    )
    x, y = placed.x + PADDING - 2, placed.y + PADDING - 4
    yield f'<path class="icon" transform="translate({x:.1f} {y:.1f})" d="{ICONS[box.kind]}"/>'
    yield from (_text(label) for label in placed.labels)
    for kind, (left, top) in zip(box.interfaces, placed.interfaces, strict=True):
        yield (
            f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{INTERFACE:g}" '
            f'height="{INTERFACE:g}" rx="1"/>'
        )
    yield from _badge(placed)
    end = "</a>" if linked and box.anchor else "</g>"
    inner = (line for child in placed.children for line in _boxes(child, linked=linked))
    if linked and box.anchor:  # a link inside a link is not valid
        yield end
        yield from inner
    else:
        yield from inner
        yield end


def description(box: Box) -> str:
    """Return what a box shows as one text."""
    change = f"{box.change}: " if box.change else ""
    outside = "outside the stack" if box.outside and box.kind not in ("region", "zone") else ""
    facts = [each for each in (box.caption, *box.lines, _cards(box), outside) if each]
    return f"{change}{box.title}" + (f" ({'; '.join(facts)})" if facts else "")


def _cards(box: Box) -> str:
    counts = {kind: box.interfaces.count(kind) for kind in dict.fromkeys(box.interfaces)}
    found = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return f"network interfaces: {found}" if found else ""


def _badge(placed: Placed) -> Iterator[str]:
    change = placed.box.change
    if change is None:
        return
    text = f"{SIGNS[change]} {change}"
    width = text_width(text, CAPTION, bold=True)
    x, y = placed.x + placed.width - width - 20, placed.y + 8
    yield (
        f'<rect class="badge" x="{x:.1f}" y="{y:.1f}" width="{width + 12:.1f}" height="16" rx="8"/>'
    )
    yield (
        f'<text class="badge-text" x="{x + 6:.1f}" y="{y + 11.5:.1f}" font-size="{CAPTION:g}" '
        f'textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs">{text}</text>'
    )


def _text(label: Label) -> str:
    return (
        f'<text class="{label.role}" x="{label.x:.1f}" y="{label.y:.1f}" '
        f'font-size="{label.size:g}" textLength="{label.width:.1f}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(label.text)}</text>'
    )
