"""The legend of a picture: only what the picture has."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.topology.box import Box, Change
from trainyard.topology.layout import CAPTION, INTERFACE
from trainyard.topology.style import SIGNS
from trainyard.topology.text_width import text_width

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
