"""Tags that AWS or the program would not take."""

import pytest

from components.checks.tag_review import review_tags
from components.config.review import Review


@pytest.mark.parametrize(
    ("tags", "count"),
    [
        ({"team": "vision"}, 0),
        ({"aws:team": "vision"}, 1),
        ({"trainyard:cluster": "mine"}, 1),
        ({"team": "v" * 257}, 1),
        ({f"tag{number}": "x" for number in range(40)}, 0),
        ({f"tag{number}": "x" for number in range(41)}, 1),
    ],
    ids=["good", "of AWS", "of the program", "too long", "just enough", "too many"],
)
def test_tags_fit(tags: dict[str, str], count: int):
    review = Review(stack_file="Pulumi.p5.yaml")
    review_tags(tags, review)
    assert len(review.problems) == count
