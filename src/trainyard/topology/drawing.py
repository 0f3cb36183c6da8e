"""A picture as SVG, in light and dark mode, with a text for each box for screen readers.

Sources:
    https://www.w3.org/TR/SVG2/text.html#TextElementTextLengthAttribute
    https://www.w3.org/TR/svg-aam-1.0/
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from trainyard.components.secret_text import without_secrets
from trainyard.topology.box import Box
from trainyard.topology.layout import CAPTION, INTERFACE, PADDING, Label, Placed, place
from trainyard.topology.legend import legend
from trainyard.topology.style import ICONS, SIGNS, style_sheet
from trainyard.topology.text_width import text_width

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
