"""Every rule on its own pair of programs, and every clean program under every rule."""

from __future__ import annotations

import pytest

from policies.pack import POLICIES
from tests.support.policy import Declared, check
from tests.support.policy_programs import EXAMPLES

BY_NAME = {policy.name: policy for policy in POLICIES}


@pytest.mark.parametrize("name", BY_NAME)
def test_a_rule_refuses_its_violating_program_and_names_the_resource_and_the_fix(name):
    example = EXAMPLES[name]
    found = check(BY_NAME[name], *example.violating, config=example.config)
    (message,) = found.messages
    resource, _, fault = message.partition(": ")
    assert resource in {declared.name for declared in example.violating}
    assert "; " in fault, "the message ends with the fix, behind a semicolon"
    assert not message.endswith(".")


@pytest.mark.parametrize("name", BY_NAME)
def test_no_rule_says_anything_of_a_clean_program(name):
    example = EXAMPLES[name]
    for policy in POLICIES:
        found = check(policy, *example.clean, config=EXAMPLES[policy.name].config)
        assert (found.messages, found.undecided) == ([], [])


@pytest.mark.parametrize("name", sorted(BY_NAME.keys() - {"efa-interface-count"}))
def test_a_violating_program_breaks_no_other_rule(name):
    """Except one EFA too many, which never has a place either."""
    example = EXAMPLES[name]
    others = [policy for policy in POLICIES if policy.name != name]
    found = {policy.name: check(policy, *example.violating).messages for policy in others}
    assert not any(found.values()), found


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_other_resource_types_pass_without_a_property_being_read(policy):
    class Untouchable(dict):
        def __getitem__(self, key):
            raise AssertionError(f"{key} was read")

    other = Declared("aws:ec2/vpc:Vpc", "vpc", Untouchable())
    assert check(policy, other).messages == []
