"""Rules about the pack itself, so that a rule cannot be half-added."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import policies.rules
from policies.pack import POLICIES
from tests.support.policy_programs import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(policies.rules.__path__, "policies.rules.")
    if not module.ispkg
]
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.POLICY.name)


def test_every_rule_module_is_in_the_pack_once():
    assert sorted(id(module.POLICY) for module in MODULES) == sorted(map(id, POLICIES))


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
    assert policy.url.startswith("https://docs.aws.amazon.com/")
    assert policy.url in module.__doc__.replace("\n", ""), "the docstring cites the same page"


@each_module
def test_a_rule_explains_itself_under_the_headings_of_the_reference(module):
    headings = re.findall(r"^(\w+):$", module.__doc__, flags=re.MULTILINE)
    assert headings == ["Why", "Fix", "Source"]


@each_module
def test_a_rule_has_a_test_file_and_a_pair_of_programs(module):
    _, _, domain, stem = module.__name__.split(".")
    assert (ROOT / "tests" / "policies" / domain / f"test_{stem}.py").is_file()
    assert module.POLICY.name in EXAMPLES


def test_the_pack_is_built_in_one_place_only():
    """`PolicyPack` starts a server and never returns: a test that imported it would hang."""
    builders = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "policies").rglob("*.py")
        if "PolicyPack(" in path.read_text(encoding="utf-8")
    ]
    assert builders == ["policies/__main__.py"]
