"""The question about the networks that can reach the Kubernetes API."""

from __future__ import annotations

import pytest

from trainyard.init.api_access import ask_networks
from trainyard.init.design import NetworkDesign
from trainyard.init.question import Question

NEW, EXISTING = NetworkDesign(kind="new-vpc"), NetworkDesign(kind="existing-vpc")


def question(network: NetworkDesign) -> Question:
    asked: list[Question] = []
    ask_networks(network, asked.append)  # no answer
    (found,) = asked
    return found


@pytest.mark.parametrize("network", [NEW, EXISTING])
def test_the_question_has_no_answer_but_that_of_the_user(network: NetworkDesign) -> None:
    found = question(network)
    assert (found.default, found.suggested, found.choices) == (None, (), ())


def test_only_a_vpc_that_exists_can_be_the_only_way_to_the_api() -> None:
    assert "`private`" in question(EXISTING).text
    assert question(EXISTING).fault(["private"]) is None
    assert "`private`" not in question(NEW).text
    assert "contradicts the new VPC" in (question(NEW).fault(["private"]) or "")


def test_every_wrong_answer_is_explained() -> None:
    said = question(NEW).fault(["9.9.9.9", "10.0.0.0/8", "8.8.8.0/24"]) or ""
    assert "9.9.9.9: is not an IPv4 network" in said
    assert "10.0.0.0/8: is no network of the internet" in said
    assert "8.8.8.0/24" not in said


def test_networks_of_the_internet_are_an_answer() -> None:
    assert question(NEW).fault(["9.9.9.9/32", "8.8.8.0/24"]) is None
    assert question(NEW).fault(["0.0.0.0/0"]) is None
