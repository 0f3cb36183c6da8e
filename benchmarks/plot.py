"""Draw curves as plain SVG, for browsers and Markdown pages.

Both axes are logarithmic: linear growth is a straight line, and faster growth bends upwards.
Source: https://www.w3.org/TR/SVG11/
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 420, 260
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 34, 42
_HEAD = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
    'font-family="sans-serif" font-size="11">'
)


def picture(title: str, unit: str, points: Mapping[int, float], *, measure: str) -> str:
    """Return the SVG of one curve.

    `points` are values of `measure` (`seconds`, `MiB`) by size, all above zero; `unit` is what the
    size counts. At least one point.
    """
    sizes, values = list(points), list(points.values())
    across = _scale(sizes, LEFT, WIDTH - RIGHT)
    up = _scale([*values, *_marks(values)], HEIGHT - BOTTOM, TOP)
    path = " ".join(f"{across(size):.1f},{up(value):.1f}" for size, value in points.items())
    lines = [
        _HEAD,
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="13">{escape(title)}</text>',
        *(_row(f"{mark:g}", up(mark)) for mark in _marks(values)),
        *(_column(f"{size}", across(size)) for size in sizes),
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{escape(unit)}</text>',
        f'<text x="6" y="18">{escape(measure)}</text>',
        f'<polyline points="{path}" fill="none" stroke="#1f5fa8" stroke-width="2"/>',
        *(
            f'<circle cx="{across(size):.1f}" cy="{up(value):.1f}" r="3" fill="#1f5fa8"/>'
            for size, value in points.items()
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


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


def _row(text: str, y: float) -> str:
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
        f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    )


def _column(text: str, x: float) -> str:
    y = HEIGHT - BOTTOM
    return f'<text x="{x:.1f}" y="{y + 16}" text-anchor="middle">{text}</text>'
