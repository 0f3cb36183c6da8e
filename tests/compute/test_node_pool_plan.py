"""What the plans of node pools say of themselves in messages."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.capacity.test_succession import END, WEEK, two_blocks
from tests.support.stack_files import plan_from
from trainyard.components.compute.node_pool_plan import ImageSource


def test_the_nodes_of_a_further_block_have_the_name_of_the_stack_file() -> None:
    raw = two_blocks(further_blocks=["next"])
    pools = plan_from(raw, now=END - WEEK + timedelta(days=1)).node_pools
    found = {each.name: each.pool for each in pools}
    assert (found["p5"], found["p5-next"]) == ("p5", "p5")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (ImageSource(image_id="ami-1"), "ami-1"),
        (ImageSource(parameter="/aws/service/eks/image"), "/aws/service/eks/image"),
        (ImageSource(name="al2023-ami"), "Amazon's al2023-ami*"),
    ],
)
def test_an_image_is_named_by_its_source(source: ImageSource, text: str) -> None:
    assert str(source) == text
