"""The rules of the pack: every module in a folder of `policies/rules`, by topic and name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from trainyard.policies.rule import Rule
from trainyard.policies.rule_names import rule_files

PACK_NAME = "trainyard"


def rule_modules() -> Iterator[ModuleType]:
    """Import and yield the module of each rule, sorted by topic and name."""
    for path in rule_files():
        yield import_module(f"trainyard.policies.rules.{path.parent.name}.{path.stem}")


POLICIES: tuple[Rule, ...] = tuple(module.POLICY for module in rule_modules())
