"""Draw the timelines of Capacity Blocks as SVG.

Each block is a bar on one axis for all blocks; its moments are listed below the bar, because those
at the end of a block are minutes apart. Colors follow the color scheme of the browser.
Source: https://www.w3.org/TR/SVG11/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from xml.sax.saxutils import escape

from trainyard.components.capacity.timeline import Timeline
from trainyard.components.secret_text import without_secrets

WIDTH, LEFT, RIGHT, LINE = 900, 16, 16, 18
TOP = 60
"""Height of the title and of the axis."""
BAR = 14
MOST_TICKS = 12
THINNEST = 3.0
"""Narrowest part of a bar, so that the drain of a block of weeks is visible."""
_COLORS = """\
.timeline { background: #ffffff; color: #22272e; }
.timeline text { fill: currentColor; }
.timeline .dim { fill: #6b7480; }
.timeline .grid { stroke: #c9ced6; }
.timeline .block { fill: #7a9cc6; }
.timeline .drain { fill: #d1495b; }
.timeline .now { stroke: #2a7f3f; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
  .timeline { background: #0d1117; color: #e6edf3; }
  .timeline .dim { fill: #9aa4b0; }
  .timeline .grid { stroke: #3b434d; }
  .timeline .now { stroke: #56d364; }
}"""
"""Inside a class, so that pictures on one page do not change each other."""
Position = Callable[[datetime], float]


def timeline_picture(stack: str, timelines: Sequence[Timeline], now: datetime) -> str:
    """Return the SVG of the Capacity Blocks of a stack.

    Args:
        stack: Name of the stack.
        timelines: At least one; blocks without times have only a heading.
        now: Current time, timezone-aware.
    """
    first, last = _range([moment.at for each in timelines for moment in each.moments], now)
    days = _days(first, last)

    def position(at: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * ((at - first) / (last - first))

    y = TOP
    bars: list[str] = []
    for each in timelines:
        bars += _block(each, y, now)
        if each.ends_at is not None:
            bars += _bar(each, each.ends_at, position, y + LINE)
            bars += (_tick(position(day), y + LINE, "grid") for day in days)
            bars.append(_tick(position(now), y + LINE, "now"))
        y += LINE * (len(each.moments) + 2) + BAR + 8
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" '
            f'viewBox="0 0 {WIDTH} {y}" class="timeline" font-family="sans-serif" font-size="12">'
        ),
        f"<title>{escape(stack)}: Capacity Blocks</title>",
        f"<style>{_COLORS}</style>",
        f'<text x="{LEFT}" y="20" font-size="15" font-weight="bold">{escape(stack)}</text>',
        f'<text x="{WIDTH - RIGHT}" y="20" text-anchor="end" class="dim">UTC</text>',
        *(_date(day, position(day)) for day in days),
        *bars,
        "</svg>",
    ]
    return without_secrets("\n".join(lines) + "\n")


def _range(moments: Iterable[datetime], now: datetime) -> tuple[datetime, datetime]:
    """Return the ends of the axis: all moments and the present, with a margin."""
    every = [now, *moments]
    margin = max((max(every) - min(every)) / 40, timedelta(hours=1))
    return min(every) - margin, max(every) + margin


def _days(first: datetime, last: datetime) -> list[datetime]:
    """Return each midnight, or as many as have space for their dates."""
    step = timedelta(days=1 + (last - first) // timedelta(days=MOST_TICKS))
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return [midnight + index * step for index in range(1 + (last - midnight) // step)]


def _date(day: datetime, x: float) -> str:
    text = f"{day:%b} {day.day}"
    return f'<text x="{x:.1f}" y="{TOP - 18}" text-anchor="middle" class="dim">{text}</text>'


def _tick(x: float, y: float, kind: str) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 3}" y2="{y + BAR + 3}" class="{kind}"/>'


def _block(block: Timeline, y: float, now: datetime) -> Iterator[str]:
    """Yield the heading and the moments of one block, with space for its bar between them."""
    yield (
        f'<text x="{LEFT}" y="{y + 11}"><tspan font-weight="bold">{escape(block.reservation)}'
        f"</tspan> {escape(block.reservation_id)}, {block.state(now)}; "
        f"{escape('; '.join(block.pools))}</text>"
    )
    for index, moment in enumerate(block.moments):
        yield (
            f'<text x="{LEFT}" y="{y + LINE * (index + 2) + BAR + 4}">'
            f'<tspan class="dim">{moment.at:%Y-%m-%d %H:%M}</tspan>  {escape(moment.event)}</text>'
        )


def _bar(block: Timeline, ends_at: datetime, position: Position, y: float) -> Iterator[str]:
    # The start of a block can be unknown; it is before the first moment that is known.
    begins = position(block.starts_at) if block.starts_at else float(LEFT)
    ends = position(ends_at)
    drains = min(position(block.leaves_at or ends_at), ends - THINNEST)
    yield _rectangle(begins, drains, y, "block")
    yield _rectangle(drains, ends, y, "drain")


def _rectangle(begins: float, ends: float, y: float, kind: str) -> str:
    width = max(ends - begins, THINNEST)
    return (
        f'<rect x="{begins:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" class="{kind}"/>'
    )
