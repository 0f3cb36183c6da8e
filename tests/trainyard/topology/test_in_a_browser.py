"""What a reader sees of a report in Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.chromium import CUT_OFF, SCREENS, Page, chromium
from tests.support.stacks import STACKS, prepared
from tests.trainyard.topology.support.topologies import topology_of
from trainyard.topology.box import Box
from trainyard.topology.drawing import draw
from trainyard.topology.report import StackReport, html_report

pytestmark = pytest.mark.browser

LABELS = """\
[...document.querySelectorAll('svg.topology text')].map(text => {
  const {left, top, right, bottom} = text.getBoundingClientRect();
  const frame = text.closest('.box')?.querySelector('.frame').getBoundingClientRect();
  return {text: text.textContent, left, top, right, bottom,
          clipped: !!frame && (left < frame.left || right > frame.right + 0.5
                               || top < frame.top || bottom > frame.bottom + 0.5)};
})"""
PAPER = "getComputedStyle(document.querySelector('.topology .paper')).fill"
FOCUS = "document.activeElement.getAttribute('href')"
OPEN = "[...document.querySelectorAll('details[open] [id]')].map(each => each.id)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("browser")) as page:
        yield page


def report(stack: str, root: Box) -> str:
    return html_report(
        StackReport(
            title=stack,
            about="now",
            picture=draw(root, title=stack, linked=True),
            findings=[],
            plan=prepared(stack).plan,
        )
    )


def overlapping(labels: list[dict]) -> list[tuple[str, str]]:
    return [
        (one["text"], other["text"])
        for index, one in enumerate(labels)
        for other in labels[index + 1 :]
        if min(one["right"], other["right"]) - max(one["left"], other["left"]) > 0.5
        and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 3
    ]


def test_no_label_of_any_stack_overlaps_or_is_clipped_and_reports_fit_the_screen(
    page: Page,
) -> None:
    for stack, pools in [*((stack, None) for stack in STACKS), ("p5-cb", 30), ("pc-trn1", 30)]:
        page.show(report(stack, topology_of(stack, pools=pools, live=True)))
        labels = page.value(LABELS)
        assert len(labels) > 5, stack
        assert not [each for each in labels if each["clipped"]], stack
        assert not overlapping(labels), stack
        for screen, size in SCREENS.items():
            page.resize(*size)
            assert page.value(CUT_OFF) == [], f"{stack} ({screen})"


def test_a_page_follows_the_colors_of_the_system_and_the_keyboard_and_asks_for_nothing(
    page: Page,
) -> None:
    page.show(report("p5-cb", topology_of("p5-cb")))
    assert page.value(PAPER) == "rgb(255, 255, 255)"
    page.press("Tab")  # the region that scrolls
    reached = []
    for _ in range(2):
        page.press("Tab")
        reached.append(page.value(FOCUS))
    assert reached == ["#architecture-system_node_group", "#architecture-node_groups-p5"]
    page.press("Enter")
    assert page.value(OPEN) == ["architecture-node_groups-p5"]
    page.dark()
    assert page.value(PAPER) == "rgb(13, 17, 23)"
    assert [each for each in page.requests if not each.startswith("about:")] == []
