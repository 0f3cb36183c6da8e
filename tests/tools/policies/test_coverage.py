"""docs/rules.md lists where each rule is enforced, from data and from the rules' tags."""

from __future__ import annotations

import pytest

from tools.policies import __main__ as command
from trainyard.policies.pack.discovery import POLICIES
from trainyard.rules.coverage import coverage, rules_by_requirement, section
from trainyard.rules.requirements import requirements


@pytest.fixture(scope="module")
def text() -> str:
    return coverage()


def test_the_committed_document_is_current(text: str) -> None:
    assert (command.FOLDER / "rules.md").read_text(encoding="utf-8") == text


def test_every_rule_has_a_row_and_a_section(text: str) -> None:
    for name in requirements():
        assert f"\n| [{name}](#{name.lower()}) |" in text
        assert f"\n### {name}\n" in text


def test_every_rule_of_the_pack_stands_in_a_row(text: str) -> None:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    told = {policy.name for policy in POLICIES if any(f"[{policy.name}](" in row for row in rows)}
    assert told == {policy.name for policy in POLICIES}


def test_a_rule_is_linked_to_what_enforces_it() -> None:
    judged = rules_by_requirement()["A4"]
    lines = list(section(requirements()["A4"], judged))
    assert (
        "- made: `plan_interfaces` in [components/compute/interface_plan]"
        "(../components/compute/interface_plan.py)"
    ) in lines
    (policy,) = [line for line in lines if line.startswith("- policy: ")]
    assert "[efa-interface-count](policies.md#efa-interface-count) (mandatory)" in policy


def test_a_rule_that_nothing_enforces_says_why() -> None:
    requirement = requirements()["D14"]
    assert f"**Not enforced.** {requirement.left_out}" in list(section(requirement, []))


def test_a_rule_that_the_pack_alone_enforces_says_why_nothing_else_does(text: str) -> None:
    left = [each for each in requirements().values() if each.left_out]
    judged = rules_by_requirement()
    both = [each for each in left if judged[each.id]]
    assert both
    for each in both:
        assert f"By the pack alone: {each.left_out}" in text
