import pytest

from trainyard.components.tagging import common_tags, tag_fault


def test_the_cluster_tag_is_added_to_the_users():
    assert common_tags("p5-cb", {"team": "vision"}) == {
        "team": "vision",
        "trainyard:cluster": "p5-cb",
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [("AWS:x", "y"), ("trainyard:cluster", "y"), ("k" * 129, "y"), ("k", "v" * 257)],
    ids=["aws", "own", "long-key", "long-value"],
)
def test_tags_that_would_be_refused_have_a_fault(key, value):
    assert tag_fault(key, value)


def test_other_tags_have_none():
    assert tag_fault("cost.center", "") is None
