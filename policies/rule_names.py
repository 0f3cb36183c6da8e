"""The names of the rules of the pack, without an import of the rules and of Pulumi.

`check` compares the rules of a stack file with them. An import of the rules would double its time.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from trainyard.components.config.problems import ROOT, Problem, remove_command
from trainyard.components.config.stack import StackConfig

_RULES = Path(__file__).resolve().parent / "rules"


def rule_files() -> list[Path]:
    """Return the file of each rule, every module in a folder of `policies/rules`, by topic."""
    return sorted(_RULES.glob("*/[!_]*.py"))


def rule_name(stem: str) -> str:
    """Return the name of a rule from the name of its file."""
    return stem.replace("_", "-")


def unknown_rules(config: StackConfig, *, stack_file: str) -> list[Problem]:
    """Return a problem for each rule in a stack file that the pack does not have."""
    names = [rule_name(path.stem) for path in rule_files()]
    return [_unknown(name, names, stack_file) for name in config.policies if name not in names]


def _unknown(name: str, names: list[str], stack_file: str) -> Problem:
    path = f"{ROOT}.policies.{name}"
    remove = remove_command(path, stack_file=stack_file)
    nearest = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return Problem(
        path=path,
        problem="is not a rule of the policy pack, so it has no effect",
        found=name,
        allowed="the name of a rule in docs/policies.md",
        remedy=f"rename it to `{nearest[0]}`, or {remove}" if nearest else remove,
    )
