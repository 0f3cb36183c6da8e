"""Boxes and labels never overlap, whatever is in them."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.stacks import STACKS
from tests.trainyard.topology.support.topologies import topology_of
from trainyard.topology.box import Box, BoxRow
from trainyard.topology.drawing import INTERFACE, Label, Placed, place

TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x17F), min_size=1, max_size=70)
Area = tuple[float, float, float, float]


def boxes(depth: int) -> st.SearchStrategy[Box]:
    inside = boxes(depth - 1) if depth else st.nothing()
    row = st.builds(
        BoxRow, boxes=st.lists(inside, min_size=1, max_size=5).map(tuple), wraps=st.booleans()
    )
    return st.builds(
        Box,
        kind=st.sampled_from(["zone", "nodes", "storage"]),
        title=TEXTS,
        caption=TEXTS,
        lines=st.lists(TEXTS, max_size=3).map(tuple),
        interfaces=st.lists(st.just("efa"), max_size=40).map(tuple),
        change=st.sampled_from([None, "created"]),
        rows=st.lists(row, max_size=2).map(tuple) if depth else st.just(()),
    )


def area(each: Placed) -> Area:
    return each.x, each.y, each.x + each.width, each.y + each.height


def label_area(label: Label) -> Area:
    return label.x, label.y - 0.8 * label.size, label.x + label.width, label.y + 0.22 * label.size


def overlap(one: Area, other: Area) -> bool:
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > 0.01
        and min(one[3], other[3]) - max(one[1], other[1]) > 0.01
    )


def inside(inner: Area, outer: Area) -> bool:
    return all(inner[i] >= outer[i] - 0.01 and inner[i + 2] <= outer[i + 2] + 0.01 for i in (0, 1))


def contents(each: Placed) -> Iterator[Area]:
    """Yield what is directly in a box."""
    yield from map(label_area, each.labels)
    yield from map(area, each.children)
    yield from ((x, y, x + INTERFACE, y + INTERFACE) for x, y in each.interfaces)


def verify(placed: Placed) -> None:
    for each in placed.all():
        within = [*contents(each)]
        assert all(inside(one, area(each)) for one in within), each.box
        assert not any(overlap(*pair) for pair in itertools.combinations(within, 2)), each.box


@settings(max_examples=40)
@given(box=boxes(2), width=st.floats(min_value=100, max_value=1600))
def test_what_is_in_a_box_is_inside_its_frame_and_does_not_overlap(box, width):
    verify(place(box, width=width))


@pytest.mark.parametrize("live", [False, True], ids=["file", "account"])
@pytest.mark.parametrize("stack", STACKS)
def test_the_labels_of_every_stack_fit(stack, live):
    verify(place(topology_of(stack, live=live), width=940))


@pytest.mark.parametrize("stack", ["p5-cb", "dev", "pc-trn1", "batch-p5"])
@pytest.mark.parametrize("pools", [1, 5, 30])
def test_the_labels_fit_for_any_number_of_pools(stack, pools):
    placed = place(topology_of(stack, pools=pools, live=True), width=1640)
    verify(placed)
    # Readable: names are not cut, and no picture is a tower.
    cut = [label.text for each in placed.all() for label in each.labels if "…" in label.text]
    assert not cut
    assert placed.height < 1.5 * placed.width


def test_the_boxes_of_a_line_have_the_same_height_and_lines_are_filled():
    short = Box(kind="nodes", title="a")
    tall = Box(kind="nodes", title="b", lines=("one", "two"))
    placed = place(
        Box(kind="zone", title="z", rows=(BoxRow(boxes=(short, tall, short, short)),)), width=500
    )
    first, second, third, _ = placed.children
    assert first.height == second.height > third.height
    assert first.y == second.y < third.y  # two lines of two, not three and one
