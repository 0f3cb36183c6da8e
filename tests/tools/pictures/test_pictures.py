"""A picture shows what a terminal of its width shows."""

from __future__ import annotations

import os
import re
import sys
from xml.etree import ElementTree as ET

import pyte
import pytest

from tests.support.tracked import ROOT
from tools.pictures.__main__ import PICTURES, SCENES, WIDTHS
from tools.pictures.svg import terminal_svg
from tools.pictures.terminal import CommandFailedError, Recording, record, seen

ASKS = "name = input('name [x]: '); print(f'\\033[1;31m{name}\\033[0m'); raise SystemExit(3)"


def shown(data: bytes, columns: int = 20) -> list[str]:
    screen = pyte.Screen(columns, 5)
    pyte.ByteStream(screen).feed(data)
    return [line.plain for line in seen(screen)]


def test_what_a_live_region_has_overwritten_is_not_shown() -> None:
    assert shown(b"one\r\ntwo\x1b[1A\r\x1b[2Kthree\r\n") == ["three", "two"]


def test_lines_wrap_at_the_width_of_the_terminal() -> None:
    assert shown(b"x" * 30) == ["x" * 20, "x" * 10]


def test_colors_and_weights_reach_the_picture() -> None:
    screen = pyte.Screen(20, 2)
    pyte.ByteStream(screen).feed(b"\x1b[1;33mbold\x1b[0m \x1b[38;5;196mred\x1b[0m")
    (line,) = seen(screen)
    styles = {line.plain[span.start : span.end]: span.style for span in line.spans}
    assert (styles["bold"].bold, styles["bold"].color.name) == (True, "yellow")
    assert styles["red"].color.name == "#ff0000"
    drawn = terminal_svg([line], columns=20, title="t", name="p")
    assert ET.fromstring(drawn).tag.endswith("svg")
    assert re.search(r"\.p-r\d+ \{ fill: #ff0000", drawn)
    assert "url(http" not in drawn, "it loads nothing from the network"


def test_a_prompt_is_answered_and_the_moment_and_the_end_are_kept() -> None:
    wanted = Recording(
        arguments=[sys.executable, "-c", ASKS],
        columns=40,
        answers=["prod-a"],
        exit_code=3,
        moment=lambda text: "name [x]:" in text,
    )
    done = record(wanted, directory=ROOT, environment=os.environ)
    assert done.during is not None
    assert [line.plain for line in done.during] == ["name [x]:"]
    assert [line.plain for line in done.end] == ["name [x]: prod-a", "prod-a"]


def test_another_exit_code_is_an_error_with_the_output() -> None:
    wanted = Recording(arguments=[sys.executable, "-c", "print('why'); exit(1)"], columns=40)
    with pytest.raises(CommandFailedError, match="why"):
        record(wanted, directory=ROOT, environment=os.environ)


def test_every_picture_is_there_in_every_width() -> None:
    names = {name for scene in SCENES for name in (scene.name, scene.during) if name}
    made = {f"{name}-{columns}.svg" for name in names for columns in WIDTHS}
    assert made <= {path.name for path in PICTURES.glob("*.svg")}
