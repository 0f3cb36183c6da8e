"""Lines of a terminal as an SVG document."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own format loads a font from the network; this one uses fonts of the reader."""


def terminal_svg(lines: Sequence[Text], *, columns: int, title: str, name: str) -> str:
    """Return a picture of a terminal.

    Args:
        lines: What it shows.
        columns: Its width.
        title: Text of the title bar.
        name: Prefix of the classes, so that several pictures fit into one page.
    """
    console = Console(
        record=True,
        width=columns,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    for line in lines:
        console.print(line, soft_wrap=True)
    text = console.export_svg(title=title, code_format=_FORMAT, unique_id=name)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())
