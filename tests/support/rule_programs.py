"""The programs of each rule's test module: some break the rule, and some do not.

A test module of a rule has `VIOLATING` and `CLEAN`, tuples of programs, and may have `CONFIG`, the
rule's configuration for all of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from policies.pack.discovery import rule_modules
from tests.support.policy import Program

TESTS = Path(__file__).resolve().parents[1] / "policies"


@dataclass(frozen=True, slots=True)
class RulePrograms:
    """The programs of one rule's test module."""

    violating: tuple[Program, ...]
    clean: tuple[Program, ...]
    config: Mapping[str, Any]


def programs_of(module: ModuleType) -> RulePrograms:
    """Return the programs of the rule in a module; empty if it has no test module."""
    _, _, domain, stem = module.__name__.split(".")
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
