"""Rules of the policy pack read properties of every type: a violation or a clean result, no error.

A program may write a property with a type that its schema does not allow, and some properties are
unknown in a preview. Run it manually with more examples: `TRAINYARD_FUZZ_EXAMPLES=5000 pytest
tests/faults/test_policy_shapes.py`.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.faults.support.fuzzing import SPELLINGS, examples, odd_programs, respelled
from tests.support.policy import Program, check
from tests.support.rule_programs import all_programs
from trainyard.policies.pack.discovery import POLICIES

NAMES = [policy.name for policy in POLICIES]
BY_NAME = {policy.name: policy for policy in POLICIES}


@pytest.mark.parametrize("name", NAMES)
def test_no_rule_ends_at_a_property_of_another_shape(name: str) -> None:
    """`check` passes the results that the SDK handles: messages, and unknown values."""
    programs = all_programs()[name]

    @settings(max_examples=examples(25))
    @given(odd_programs(programs))
    def judged(program: Program) -> None:
        found = check(BY_NAME[name], *program, config=programs.config)
        assert all(isinstance(message, str) and message for message in found.messages)

    judged()


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_violation_is_one_in_every_spelling(name: str, spelling: str) -> None:
    programs = all_programs()[name]
    passed = [
        program
        for program in programs.violating
        if not check(BY_NAME[name], *respelled(program, spelling), config=programs.config).messages
    ]
    assert passed == []


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_right_is_right_in_every_spelling(name: str, spelling: str) -> None:
    programs = all_programs()[name]
    found = [
        check(BY_NAME[name], *respelled(program, spelling), config=programs.config).messages
        for program in programs.clean
    ]
    assert [messages for messages in found if messages] == []
