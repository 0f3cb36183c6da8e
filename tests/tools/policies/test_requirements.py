"""Every rule of the field names its enforcement, which exists."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from tests.support.tracked import ROOT
from trainyard.policies.pack.discovery import POLICIES
from trainyard.rules.coverage import rules_by_requirement
from trainyard.rules.requirements import STAGES, Requirement, requirements

COUNTS = {"A": 25, "B": 16, "C": 16, "D": 19, "E": 19, "F": 12, "G": 14, "H": 9}
"""Rules of each group of rules.md section 2."""
SEVERITIES = {str(severity.value) for severity in {policy.severity for policy in POLICIES}}
each_requirement = pytest.mark.parametrize(
    "requirement", requirements().values(), ids=lambda r: r.id
)


def test_every_rule_of_the_field_is_there() -> None:
    """rules.md section 2: A1 to H9."""
    expected = [f"{group}{n}" for group, count in COUNTS.items() for n in range(1, count + 1)]
    assert list(requirements()) == expected


@each_requirement
def test_a_rule_says_what_holds_why_how_to_mend_it_and_where_that_is_written(
    requirement: Requirement,
) -> None:
    for text in (requirement.holds, requirement.why, requirement.fix):
        assert text.endswith(".")
    assert requirement.severity in {"low", "medium", "high", "critical"} >= SEVERITIES
    assert requirement.sources
    assert all(source.startswith("https://") for source in requirement.sources)


@each_requirement
def test_something_enforces_a_rule_or_a_reason_says_why_nothing_does(
    requirement: Requirement,
) -> None:
    if not requirement.enforced:
        assert requirement.left_out.endswith(".")
    else:
        assert not requirement.left_out
        assert requirement.enforced.keys() <= STAGES.keys() - {"policy"}


@each_requirement
def test_what_enforces_a_rule_exists(requirement: Requirement) -> None:
    named = [name for names in requirement.enforced.values() for name in names]
    missing = [name for name in named if name.partition(":")[2] not in defined_in(name)]
    assert not missing


def defined_in(name: str) -> set[str]:
    """Return the functions, classes and constants of a module, including those of its classes."""
    return names_of(name.partition(":")[0])


@cache
def names_of(module: str) -> set[str]:
    tree = ast.parse((ROOT / f"{module}.py").read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert "review_efa_support" in names_of("components/capacity/pool_review")
    assert "review_efa_supports" not in names_of("components/capacity/pool_review")


def test_the_refusals_of_a_plan_name_the_rules_that_it_enforces() -> None:
    """So that `lint` shows a rule for every problem that breaks one, and none that is not there."""
    enforced = {each.id for each in requirements().values() if "plan" in each.enforced}
    assert rules_of_refusals() == enforced


def rules_of_refusals() -> set[str]:
    """Return every id in an argument `rule` or `rules` of a call in `components`."""
    named = (
        constant.value
        for path in (ROOT / "components").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.keyword) and node.arg in {"rule", "rules"}
        for constant in ast.walk(node.value)
        if isinstance(constant, ast.Constant)
    )
    return {name for name in named if re.fullmatch(r"[A-H]\d+", str(name))}


def test_the_rules_of_the_pack_enforce_rules_that_exist() -> None:
    """A tag such as `A99` would be in no table."""
    assert set(rules_by_requirement()) == set(requirements())


def test_a_rule_of_the_pack_enforces_something_or_belongs_to_the_baseline() -> None:
    without = [
        policy.name
        for policy in POLICIES
        if "baseline" not in (policy.tags or [])
        and not any(re.fullmatch(r"[A-H]\d+", tag) for tag in policy.tags or [])
    ]
    assert not without


def test_threads_on_github_are_addresses() -> None:
    sources = requirements()["A4"].sources
    assert "https://github.com/eksctl-io/eksctl/issues/8685" in sources
