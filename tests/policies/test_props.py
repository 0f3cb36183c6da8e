"""Reading of properties that are written differently than in their schema."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi_policy.proxy import unknown_checking_proxy

from tests.support.policy import UNKNOWN as SENT_UNKNOWN
from trainyard.policies.resources.props import UNKNOWN, Facts, Nested, is_set, number_of


def facts(**props: Any) -> Facts:
    return Facts("x", unknown_checking_proxy(props))


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (2.0, 2),
        ("2", 2),
        ("0x2", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("1" * 5000, None),
        (True, None),
        (None, None),
        (UNKNOWN, UNKNOWN),
    ],
)
def test_a_number_may_be_spelled_as_text(value: Any, number: Any) -> None:
    assert number_of(value) == number


def test_a_list_of_one_and_its_item_are_the_same() -> None:
    listed = facts(place=[{"zone": "a"}], types=["p5.48xlarge"])
    plain = facts(place={"zone": "a"}, types="p5.48xlarge")
    for found in (listed, plain):
        assert found.get("place", "zone") == found.get("place", 0, "zone") == "a"
        assert found.get("types") == found.get("types", 0) == "p5.48xlarge"
        assert (found.count("place"), found.count("types")) == (1, 1)
        assert found.get("types", 1) is None


def test_a_list_or_a_mapping_in_the_place_of_a_text_is_no_text() -> None:
    for value in ([], {}, ["a", "b"], {"a": "b"}):
        found = facts(name=value).get("name")
        assert isinstance(found, Nested)
        assert found not in {"a", "b"}
        assert is_set(found) == bool(value)


def test_a_list_whose_item_is_not_known_yet_is_known_itself() -> None:
    found = facts(groups=[SENT_UNKNOWN])
    assert is_set(found.get("groups"))
    assert found.get("groups") is not UNKNOWN
    assert found.values("groups") == [UNKNOWN]


def test_nothing_in_a_list_is_nothing() -> None:
    assert [facts(x=value).count("x") for value in (None, "", [], {}, False)] == [0] * 5
