"""Draw an `up`: one bar per resource, from its start to its end; the longest chain is red.

The output is plain SVG for browsers and Markdown pages; its colours are legible on white and on
black.
Source: https://www.w3.org/TR/SVG11/
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from tools.benchmarks.critical_path import CriticalPath
from tools.benchmarks.schedule import Timed

WIDTH, ROW, TOP, BOTTOM = 980, 17, 66, 30
NAMES = 330
"""Width of the names."""
RIGHT = 66
FEWEST_SECONDS = 5
"""Shorter steps (roles, rules, routes) are omitted unless they are on the longest chain."""
CHAIN, BESIDE, GRID, INK = "#d1495b", "#7a9cc6", "#c9ced6", "#22272e"
TICKS = (10, 30, 60, 120)
MOST_TICKS = 12


def gantt(path: CriticalPath) -> str:
    """Return the SVG of one stack's `up`."""
    chain = {each.step.urn for each in path.times.critical_path}
    rows = _rows(path.times.timed, chain)
    height = TOP + ROW * len(rows) + BOTTOM
    seconds = path.times.seconds
    across = (WIDTH - NAMES - RIGHT) / seconds
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11" fill="{INK}">'
        ),
        f"<title>{escape(path.stack)}: cold up with typical latencies</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *_heading(path, hidden=_taking_time(path.times.timed) - len(rows)),
        *_grid(seconds, across, height),
    ]
    for index, each in enumerate(rows):
        on_chain = each.step.urn in chain
        lines += _bar(each, TOP + ROW * index, across, on_chain=on_chain, prefix=_prefix(rows))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _rows(timed: Sequence[Timed], chain: set[str]) -> list[Timed]:
    return [
        each
        for each in timed
        if each.step.seconds >= FEWEST_SECONDS or (each.step.seconds and each.step.urn in chain)
    ]


def _taking_time(timed: Iterable[Timed]) -> int:
    return sum(1 for each in timed if each.step.seconds)


def _prefix(rows: Sequence[Timed]) -> str:
    """Return the prefix that all names share, up to a hyphen: the stack's name."""
    names = [each.step.name for each in rows]
    shared = 0
    while all(len(n) > shared and n[shared] == names[0][shared] for n in names):
        shared += 1
    return names[0][:shared].rpartition("-")[0] + "-" if "-" in names[0][:shared] else ""


def _heading(path: CriticalPath, *, hidden: int) -> list[str]:
    over = (
        f"{_clock(path.times.seconds)} in all; unavoidable {_clock(path.chain.seconds)}; "
        f"ratio {path.ratio:.2f}"
    )
    beside = f"; {hidden} short steps are not drawn" if hidden else ""
    return [
        f'<text x="10" y="20" font-size="15" font-weight="bold">{escape(path.stack)}</text>',
        f'<text x="10" y="38">{over}{beside}</text>',
        f'<rect x="{WIDTH - 290}" y="10" width="12" height="11" fill="{CHAIN}"/>',
        f'<text x="{WIDTH - 272}" y="20">the longest chain</text>',
        f'<rect x="{WIDTH - 150}" y="10" width="12" height="11" fill="{BESIDE}"/>',
        f'<text x="{WIDTH - 132}" y="20">made beside it</text>',
    ]


def _grid(seconds: float, across: float, height: int) -> list[str]:
    tick = next((t for t in TICKS if seconds / t <= MOST_TICKS), TICKS[-1])
    lines: list[str] = []
    for at in range(0, int(seconds) + 1, tick):
        x = NAMES + at * across
        lines += [
            (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - BOTTOM + 4}" '
                f'stroke="{GRID}"/>'
            ),
            f'<text x="{x:.1f}" y="{TOP - 10}" text-anchor="middle">{_clock(at)}</text>',
        ]
    return lines


def _bar(each: Timed, y: float, across: float, *, on_chain: bool, prefix: str) -> list[str]:
    x, width = NAMES + each.begins * across, max((each.ends - each.begins) * across, 1.5)
    weight = ' font-weight="bold"' if on_chain else ""
    kind = each.step.type.rpartition(":")[2]
    name = each.step.name.removeprefix(prefix)
    return [
        f'<text x="{NAMES - 8}" y="{y + 12:.0f}" text-anchor="end"{weight}>{escape(name)}</text>',
        (
            f'<rect x="{x:.1f}" y="{y + 3:.0f}" width="{width:.1f}" height="{ROW - 5}" rx="2" '
            f'fill="{CHAIN if on_chain else BESIDE}">'
            f"<title>{escape(kind)} {escape(each.step.name)}: "
            f"{each.begins:.0f} s to {each.ends:.0f} s</title></rect>"
        ),
        (
            f'<text x="{x + width + 4:.1f}" y="{y + 12:.0f}" font-size="10">'
            f"{_clock(each.ends - each.begins)}</text>"
        ),
    ]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"
