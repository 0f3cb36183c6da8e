"""Draw curves as plain SVG, for browsers and Markdown pages, in light and dark mode.

Both axes are logarithmic: linear growth is a straight line, and faster growth bends upwards.
Source: https://www.w3.org/TR/SVG11/
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 34, 42
_DASH = 12
"""Half of the length of a line for one point."""
_MOST_COLUMNS = 6
"""Marks across, so that their texts do not overlap."""
_HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
    f'height="{HEIGHT}" font-family="sans-serif" font-size="11">\n'
    "<style>\n"
    ".plot-paper { fill: white } .plot-text { fill: #222 } .plot-grid { stroke: #ddd }\n"
    ".plot-curve { stroke: #1f5fa8; fill: #1f5fa8 } .plot-expected { stroke: #c60 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".plot-paper { fill: #1b1b1b } .plot-text { fill: #ddd } .plot-grid { stroke: #444 }\n"
    ".plot-curve { stroke: #6aa9f0; fill: #6aa9f0 } .plot-expected { stroke: #fa5 } }\n"
    "</style>"
)


def picture(
    title: str,
    unit: str,
    points: Mapping[int, float],
    *,
    measure: str,
    expected: Mapping[int, float] | None = None,
    size_text: Callable[[int], str] = str,
) -> str:
    """Return the SVG of one curve.

    Args:
        title: Its title.
        unit: What the size counts.
        points: At least one value of `measure` by size, all above zero.
        measure: Such as `seconds` or `MiB`.
        expected: Values of a second, dashed curve, at some of the sizes.
        size_text: Returns a size as text.
    """
    sizes, expected = list(points), expected or {}
    values = [*points.values(), *expected.values()]
    across = _scale(sizes, LEFT, WIDTH - RIGHT)
    up = _scale([*values, *_marks(values)], HEIGHT - BOTTOM, TOP)
    step = math.ceil(len(sizes) / _MOST_COLUMNS)
    lines = [
        _HEAD,
        f'<rect class="plot-paper" width="{WIDTH}" height="{HEIGHT}"/>',
        _text(title, LEFT, 18, 'font-size="13"'),
        *(_row(f"{mark:g}", up(mark)) for mark in _marks(values)),
        # From the right, so that the largest size has its mark.
        *(_column(size_text(size), across(size)) for size in sizes[::-step]),
        _text(unit, WIDTH - RIGHT, HEIGHT - 8, 'text-anchor="end"'),
        _text(measure, 6, 18),
        _line("plot-expected", expected, across, up, 'stroke-dasharray="5 3"') if expected else "",
        _line("plot-curve", points, across, up),
        *(
            f'<circle class="plot-curve" cx="{across(size):.1f}" cy="{up(value):.1f}" r="3"/>'
            for size, value in points.items()
        ),
        "</svg>",
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _scale(values: Iterable[float], low: float, high: float) -> Callable[[float], float]:
    """Return the position of a value between two edges of the picture, by its logarithm."""
    logarithms = [math.log10(value) for value in values]
    least, most = min(logarithms), max(logarithms)
    width = most - least or 1.0
    return lambda value: low + (math.log10(value) - least) / width * (high - low)


def _marks(values: Iterable[float]) -> list[float]:
    """Return the powers of ten around the values, for the lines across."""
    logarithms = [math.log10(value) for value in values]
    first, last = math.floor(min(logarithms)), math.ceil(max(logarithms))
    return [10.0**exponent for exponent in range(first, max(last, first + 1) + 1)]


def _line(
    kind: str,
    points: Mapping[int, float],
    across: Callable[[float], float],
    up: Callable[[float], float],
    more: str = "",
) -> str:
    places = [(across(size), up(value)) for size, value in points.items()]
    if len(places) == 1:  # a line of one point is not drawn
        ((x, y),) = places
        places = [(x - _DASH, y), (x + _DASH, y)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline class="{kind}" points="{path}" style="fill: none" stroke-width="2" {more}/>'


def _text(text: str, x: float, y: float, more: str = "") -> str:
    return f'<text class="plot-text" x="{x:.1f}" y="{y:.1f}" {more}>{escape(text)}</text>'


def _row(text: str, y: float) -> str:
    line = f'<line class="plot-grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + _text(text, LEFT - 6, y + 4, 'text-anchor="end"')


def _column(text: str, x: float) -> str:
    return _text(text, x, HEIGHT - BOTTOM + 16, 'text-anchor="middle"')
