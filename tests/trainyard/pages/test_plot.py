"""The chart of a curve."""

import xml.etree.ElementTree as ET

import pytest

from trainyard.pages.plot import picture

SVG = "{http://www.w3.org/2000/svg}"


def places(points: dict[int, float]) -> list[tuple[float, float]]:
    tree = ET.fromstring(picture("t", "nodes", points, measure="seconds"))
    return [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in tree.iter(f"{SVG}circle")]


def test_what_grows_as_its_size_does_is_a_straight_line():
    (x0, y0), (x1, y1), (x2, y2) = places({1: 0.01, 10: 0.1, 100: 1.0})
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert y0 > y1


def test_one_point_is_a_picture():
    assert len(places({1: 0.5})) == 1


def test_titles_are_text():
    text = picture("a < b & c", "n", {1: 1.0, 2: 2.0}, measure="s")
    assert "a &lt; b &amp; c" in text
    ET.fromstring(text)
