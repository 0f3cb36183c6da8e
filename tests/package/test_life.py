"""A stack of the installed package, with the emulated account, as a clone has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from tests.package.support.user import User

pytestmark = pytest.mark.sandbox
STACK = ("prod-a", "--sandbox")
CREATED = ("--reservation", "cr-0123456789abcdef0", "--api-networks", "203.0.113.0/24")


@pytest.fixture(scope="module")
def user(new_user: Callable[[str], User]) -> Iterator[User]:
    """A user with the stack `prod-a` of p5 nodes, which is deployed."""
    made = new_user("stacks")
    try:
        made.must("init", *STACK, "--kind", "eks", *CREATED, "--yes")
        made.must("up", *STACK, "--yes")
        yield made
        assert "deleted" in made.must("destroy", *STACK, "--yes")
    finally:
        made.run("sandbox", "stop")


def test_the_stack_is_up_and_commands_are_typed_without_a_clone(user: User) -> None:
    said = user.must("status", *STACK)
    assert "trainyard job prod-a" in said
    assert "./trainyard" not in said


def test_a_second_up_changes_nothing(user: User) -> None:
    assert "0 unchanged" not in user.must("up", *STACK, "--yes")


def test_the_plan_and_the_list_are_those_of_the_stack(user: User) -> None:
    planned = json.loads(user.must("plan", *STACK, "--json"))
    assert any(each["type"] == "aws:autoscaling/group:Group" for each in planned["resources"])
    listed = json.loads(user.must("list", "--sandbox", "--json"))
    (own,) = [each for each in listed["stacks"] if not each["is_example"]]
    assert (own["stack"], own["state"]) == ("prod-a", "deployed")
