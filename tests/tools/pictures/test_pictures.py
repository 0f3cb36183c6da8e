"""A picture shows what a terminal of its width shows."""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pyte
import pytest
from rich.text import Text

from tests.support.tracked import ROOT
from tools.pictures.__main__ import PICTURES, SCENES, WIDTHS
from tools.pictures.terminal import (
    HOME,
    CommandFailedError,
    Recording,
    neutral,
    record,
    seen,
    terminal_svg,
)

PLACE = Path("/tmp/tmp01234567")
BEGAN = datetime(2026, 11, 24, 23, 50, 20, tzinfo=UTC)
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


def shown_anywhere(*lines: str) -> list[str]:
    return [line.plain for line in neutral([*map(Text, lines)], place=PLACE, began=BEGAN)]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (f"cd {PLACE}/trainyard-stacks", f"cd {HOME}/trainyard-stacks"),
        ("endpoint  https://127.0.0.1:51341", "endpoint  https://127.0.0.1:54321"),
        ("role/p5-cb-p5-role-7f8ee02", "role/p5-cb-p5-role-1a2b3c4"),
        ("⠦ up p5-cb: 32 of 65 done", "⠋ up p5-cb: 32 of 65 done"),
        ("ends 2026-11-30 23:50 UTC", "ends 2026-12-07 10:00 UTC"),
        ("succeeded, 2026-11-24 23:52 UTC", "succeeded, 2026-12-01 10:00 UTC"),
        ("scaled in at 2026-11-30 23:10 UTC", "scaled in at 2026-12-07 09:20 UTC"),
        ("standard support until 2027-08-02", "standard support until 2027-08-02"),
    ],
)
def test_nothing_of_this_machine_and_moment_is_shown(line: str, shown: str) -> None:
    assert shown_anywhere(line) == [shown]


def test_a_time_in_two_lines_of_a_panel_moves_too() -> None:
    assert shown_anywhere("│ ends at 2026-11-25 │", "│ 00:30 UTC          │") == [
        "│ ends at 2026-12-01 │",
        "│ 10:40 UTC          │",
    ]


def test_a_replacement_keeps_the_colors() -> None:
    (line,) = neutral([Text.assemble(str(PLACE), (" ok", "green"))], place=PLACE, began=BEGAN)
    assert [(line.plain[span.start : span.end], span.style) for span in line.spans] == [
        (" ok", "green")
    ]


def test_a_directory_that_would_change_the_layout_is_an_error() -> None:
    with pytest.raises(ValueError, match="another length"):
        neutral([Text("cd /tmp/x")], place=Path("/tmp/x"), began=BEGAN)


@pytest.mark.parametrize("path", sorted(PICTURES.glob("*-*0.svg")), ids=lambda path: path.name)
def test_a_picture_fits_into_its_width_and_names_no_machine(path: Path) -> None:
    columns = int(path.stem.rpartition("-")[2])
    text = path.read_text(encoding="utf-8")
    ends = re.findall(r' x="([\d.]+)" y="[\d.]+" textLength="([\d.]+)"[^>]*>[^\n]', text)
    assert ends
    # The characters of rich's pictures are 20 high and 0.61 times as wide.
    assert max(float(x) + float(length) for x, length in ends) <= columns * 12.2 + 0.1
    assert not re.search(r"/tmp/|/root/|/home/(?!researcher)", text)
