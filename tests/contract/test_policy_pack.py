"""Rules about the pack itself, so that a rule cannot be half-added."""

from __future__ import annotations

import re

import pytest

from policies.pack.discovery import POLICIES, rule_modules
from tests.support.rule_programs import programs_of
from tests.support.tracked import ROOT, tracked

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
def test_a_rule_is_named_after_its_file(module):
    stem = module.__name__.rpartition(".")[2]
    assert module.POLICY.name == stem.replace("_", "-")


@each_module
def test_a_rule_says_how_to_fix_it_how_bad_it_is_and_where_that_is_written(module):
    policy = module.POLICY
    for text in (policy.display_name, policy.description, policy.remediation_steps, policy.tags):
        assert text
    assert policy.severity
    assert policy.enforcement_level
    assert policy.url.startswith("https://")
    assert policy.url in module.__doc__.replace("\n", ""), "the docstring cites the same page"


@each_module
def test_a_rule_says_which_known_mistakes_it_stops_or_that_it_is_baseline(module):
    tags = module.POLICY.tags
    assert tags[0] == module.__name__.split(".")[2], "the domain comes first"
    assert "baseline" in tags or any(ID.fullmatch(tag) for tag in tags)


@each_module
def test_a_rule_explains_itself_under_the_headings_of_the_reference(module):
    headings = re.findall(r"^(\w+):$", module.__doc__, flags=re.MULTILINE)
    assert headings == ["Why", "Fix", "Source"]
    why, fix, source = (
        text.strip() for text in re.split(r"^\w+:$", module.__doc__, flags=re.M)[1:]
    )
    assert why
    assert fix
    assert "https://" in source


@each_module
def test_a_rule_has_programs_that_break_it_and_programs_that_do_not(module):
    """`tests/policies/test_pack_process.py` runs them in the pack's own process."""
    _, _, domain, stem = module.__name__.split(".")
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
        if re.search(r"^serve\(", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ]
    assert servers == ["policies/__main__.py"]
