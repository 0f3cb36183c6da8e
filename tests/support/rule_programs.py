"""The programs of each rule's test module: `VIOLATING` and `CLEAN`, tuples of programs.

A test module may also have `CONFIG`, the rule's configuration for all of them. A test that imports
this module depends on the tests of all rules, and `./trainyard test --since` selects it when one
rule changes.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from types import ModuleType

from tests.support.policy import RulePrograms
from tests.support.tracked import ROOT
from trainyard.policies.pack.discovery import rule_modules

TESTS = ROOT / "tests" / "policies"


def programs_of(module: ModuleType) -> RulePrograms:
    """Return the programs of the rule in a module; empty if it has no test module."""
    domain, stem = module.__name__.split(".")[-2:]
    if not (TESTS / domain / f"test_{stem}.py").is_file():
        return RulePrograms((), (), {})
    test = importlib.import_module(f"tests.policies.{domain}.test_{stem}")
    return RulePrograms(
        getattr(test, "VIOLATING", ()), getattr(test, "CLEAN", ()), getattr(test, "CONFIG", {})
    )


@cache
def all_programs() -> Mapping[str, RulePrograms]:
    """Return the programs of every rule, by its name."""
    return {module.POLICY.name: programs_of(module) for module in rule_modules()}
