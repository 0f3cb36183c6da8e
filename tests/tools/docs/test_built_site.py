"""What a browser could not load, or where it could not go, is found in a built site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs.building import problems


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "a.html").write_text('<h2 id="one">1</h2><a href="sub/b.html#two">b</a>')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.html").write_text(
        '<h2 id="two">2</h2><a href="../a.html#one">a</a><a href="#two">here</a>'
        '<a href="https://docs.aws.amazon.com/">AWS</a><img src="data:image/png;base64,AA==">'
    )
    return tmp_path


def test_links_to_pages_anchors_and_addresses_are_right(site: Path) -> None:
    assert list(problems(site)) == []


@pytest.mark.parametrize(
    ("element", "problem"),
    [
        ('<a href="c.html">', "a.html: c.html leads nowhere"),
        ('<a href="sub/b.html#one">', "a.html: sub/b.html#one leads nowhere"),
        ('<a href="#two">', "a.html: #two leads nowhere"),
        ('<a href="sub">', "a.html: sub leads nowhere"),
        ('<img src="p.svg">', "a.html: p.svg leads nowhere"),
        (
            '<script src="https://cdn.example/x.js"></script>',
            "a.html: loads https://cdn.example/x.js from the network",
        ),
        (
            '<link href="//fonts.example/f.css">',
            "a.html: loads //fonts.example/f.css from the network",
        ),
    ],
)
def test_what_leads_nowhere_or_to_the_network_is_named(
    site: Path, element: str, problem: str
) -> None:
    with (site / "a.html").open("a") as page:
        page.write(element)
    assert list(problems(site)) == [problem]


def test_a_font_of_the_network_in_a_style_is_named(site: Path) -> None:
    (site / "x.css").write_text("@font-face { src: url(https://fonts.example/a.woff2) }")
    assert list(problems(site)) == ["x.css: loads https://fonts.example/a.woff2 from the network"]
