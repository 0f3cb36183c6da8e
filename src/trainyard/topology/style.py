"""Colors and icons of the boxes.

The colors of groups and services are those that AWS uses in its diagrams:
https://aws.amazon.com/architecture/icons/. The icons are drawn for this project.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.topology.box import Change, Kind

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
