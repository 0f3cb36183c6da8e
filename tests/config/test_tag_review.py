"""Tags that AWS or the program does not accept."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.constraints import CONSTRAINTS, in_python
from trainyard.components.config.problems import Review
from trainyard.components.config.stack_review import review_tags


@pytest.mark.parametrize(
    ("tags", "count"),
    [
        ({"team": "vision"}, 0),
        ({"aws:team": "vision"}, 1),
        ({"trainyard:cluster": "mine"}, 1),
        ({"team": "v" * 257}, 1),
        ({f"tag{number}": "x" for number in range(40)}, 0),
        ({f"tag{number}": "x" for number in range(41)}, 1),
        ({"AWS:team": "vision"}, 1),
        ({"team": "v" * 256, "k" * 128: ""}, 0),
        ({"Team": "a", "team": "b"}, 1),
        ({"Trainyard:Cluster": "mine"}, 1),
        ({"team": "a,b"}, 1),
        ({"team#": "a"}, 1),
        ({"größe_1": "Zürich 2 +-=.:/@"}, 0),
    ],
    ids=[
        "good",
        "of AWS",
        "of the program",
        "too long",
        "just enough",
        "too many",
        "of AWS in capitals",
        "as long as can be",
        "differ in case only",
        "of the program in capitals",
        "character in the value",
        "character in the key",
        "letters of any language",
    ],
)
def test_tags_fit(tags: dict[str, str], count: int):
    review = Review(stack_file="Pulumi.p5.yaml")
    review_tags(tags, review)
    assert len(review.problems) == count


@pytest.mark.parametrize("tags", [{"team": "a,b"}, {"Team": "a", "team": "b"}])
def test_resources_of_ec2_accept_tags_that_roles_do_not(tags: dict[str, str]):
    review = Review(stack_file="Pulumi.vpc.yaml")
    review_tags(tags, review, has_roles=False)
    assert review.problems == []


TEXT = CONSTRAINTS["iam.CreateRole.Tags[].Value"]


@given(st.from_regex(re.compile(in_python(TEXT["pattern"])), fullmatch=True))
def test_every_value_that_iam_accepts_is_accepted(value: str):
    value = value[: TEXT["max"]]
    review = Review(stack_file="Pulumi.p5.yaml")
    if value.isprintable():  # the only white space that the configuration accepts is the space
        review_tags({"team": value}, review)
    assert review.problems == []
