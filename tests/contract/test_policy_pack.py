"""Rules about the pack itself, so that no rule is added incompletely."""

from __future__ import annotations

import re

import pytest

from tests.support.rule_programs import programs_of
from tests.support.tracked import ROOT, tracked
from trainyard.policies.pack.discovery import POLICIES, rule_modules
from trainyard.policies.rule import RuleText

MODULES = list(rule_modules())
ID = re.compile(r"[A-H]\d{1,2}")
"""A rule of `rules.md`."""
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.POLICY.name)


def test_the_pack_finds_every_file_under_rules_in_a_fixed_order():
    files = [path for path in tracked(".py") if path.parts[:2] == ("policies", "rules")]
    rules = sorted(path for path in files if path.stem != "__init__")
    assert {len(path.parts) for path in rules} == {4}, "policies/rules/<topic>/<rule>.py"
    assert [policy.name for policy in POLICIES] == [path.stem.replace("_", "-") for path in rules]


def test_no_two_rules_have_one_name():
    assert len({policy.name for policy in POLICIES}) == len(POLICIES)


@each_module
def test_a_rule_states_what_must_hold_why_the_fix_and_its_sources(module):
    assert re.findall(r"^(\w+):$", module.__doc__, flags=re.MULTILINE) == ["Why", "Fix", "Source"]
    text = RuleText.parsed(module.__doc__)
    assert text.holds.endswith(".")
    assert "\n" not in text.holds
    assert text.why.endswith((".", ")."))
    assert text.fix.endswith(".")
    assert any(source.startswith("https://") for source in text.sources)


@each_module
def test_the_policy_of_a_rule_has_the_texts_of_its_docstring(module):
    policy, text = module.POLICY, RuleText.parsed(module.__doc__)
    assert policy.description == text.holds
    assert policy.display_name == text.holds.removesuffix(".")
    assert policy.remediation_steps == " ".join(text.fix.split())
    assert text.sources[0].startswith(policy.url)
    assert policy.url.startswith("https://")
    assert policy.severity


@each_module
def test_a_rule_names_its_topic_first_and_its_requirements_or_baseline(module):
    tags = module.POLICY.tags
    assert tags[0] == module.__name__.split(".")[-2]
    assert "baseline" in tags or any(ID.fullmatch(tag) for tag in tags)


@each_module
def test_a_rule_has_programs_that_break_it_and_programs_that_do_not(module):
    """`tests/policies/test_pack_process.py` runs them in the pack's own process."""
    domain, stem = module.__name__.split(".")[-2:]
    assert (ROOT / "tests" / "policies" / domain / f"test_{stem}.py").is_file()
    programs = programs_of(module)
    assert programs.violating
    assert programs.clean


@each_module
def test_a_rule_has_a_row_in_both_tables(module):
    name = re.escape(module.POLICY.name)
    rows = {"policies.md": rf"^\| \[{name}\]", "rules.md": rf"^\|.*(?<![\w-]){name}(?![\w-])"}
    for document, row in rows.items():
        text = (ROOT / "docs" / document).read_text(encoding="utf-8")
        assert re.search(row, text, flags=re.MULTILINE), f"run python -m tools.policies: {document}"


def test_the_pack_is_served_in_one_place_only():
    """`serve` starts a server and never returns: a test that imported it would hang."""
    servers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "policies").rglob("*.py")
        if re.search(r"^ *serve\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert servers == ["policies/start.py"]
