"""The report of `verify` as a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from tests.support.tracked import ROOT
from tests.trainyard.verify.test_pairs import RING, log_of
from tests.trainyard.verify.test_verdict import nodes
from trainyard.verify.inventory import no_inventory
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.report import html_report
from trainyard.verify.verification import Verified, verified

P5 = PlannedTest(test="nccl-tests", nodes=nodes("p5.48xlarge", 2), chosen=None)
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
SLOW = (ROOT / "tests/trainyard/verify/logs/slow-network-concluded.log").read_text("utf-8")
VERSIONS = "[version n-1] kernel: 6.12\n[version n-2] kernel: 6.1\n"


def result(text: str = SLOW + VERSIONS, **changes: float) -> Verified:
    return verified("p5-cb", P5, text, inventory=no_inventory("none"), **changes)


def page(found: Verified) -> str:
    return html_report(found, at="2026-11-25 12:00 UTC")


def curve(text: str) -> ET.Element:
    svg = re.search(r"<svg.*</svg>", text, re.DOTALL)
    assert svg is not None
    return ET.fromstring(svg[0])


def test_it_has_every_stage_with_its_reason() -> None:
    text = page(result())
    assert "<h1>Verification of p5-cb: failed</h1>" in text
    for stage in result().stages:
        assert f'<tr class="{stage.result}"><td>{stage.name}</td>' in text
    assert "kernel differs: 6.12 on n-1, 6.1 on n-2" in text


def test_it_loads_nothing_and_has_a_dark_mode() -> None:
    text = page(result())
    assert not re.search(r"\b(?:src|href)=|@import|url\(|<script|<link", text)
    assert "color-scheme: light dark" in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("changes", [{}, {"minimum_gb_per_second": 40.0}])
def test_the_curve_has_the_threshold(changes: dict[str, float]) -> None:
    found = result(**changes)
    drawn = curve(page(found))
    (expected,) = (each for each in drawn.iter() if each.get("class") == "plot-expected")
    points = [point.split(",") for point in expected.attrib["points"].split()]
    assert len({y for _, y in points}) == 1
    assert len({x for x, _ in points}) == 2
    circles = [each for each in drawn.iter() if each.tag.endswith("circle")]
    assert len(circles) == len(found.log.measurements)


def test_pairs_are_a_matrix() -> None:
    text = page(result(log_of({**RING, "b c": "b NCCL WARN failed"})))
    cells = re.findall(r"<td>([^<]*)</td>", text.partition("Pairs of nodes")[2])
    assert cells[:10] == ["a", "", "480", "", "490", "b", "480", "", "failed", ""]


def test_versions_have_a_row_for_each_node() -> None:
    assert "<td>n-1</td><td>6.12</td>" in page(result())


def test_no_secret_is_written() -> None:
    found = result()
    assert KEY not in page(replace(found, stack=KEY))
    assert "<b>" not in page(replace(found, stack="<b>"))


def test_without_a_test_there_is_no_curve() -> None:
    text = page(verified("p5-cb", P5, None, inventory=no_inventory("none")))
    assert "<svg" not in text
    assert "passed" in text
