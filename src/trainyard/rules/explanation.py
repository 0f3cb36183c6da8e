"""The explanation of one rule: of the pack by its name, or of `docs/rules.md` by its id."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from trainyard.rules.coverage import rules_by_requirement
from trainyard.rules.requirements import STAGES, Requirement, requirements, stages_of
from trainyard.rules.rules import Rule, own_policies, rules

EXAMPLE_DAYS = 30
"""Duration of the suppression in the example."""

_NEAREST = 3
"""Maximum number of suggestions for an unknown name."""
_SHORTEST_WORD = 3
"""Minimum length of a part of a name that is searched for, such as `imds`."""


class UnknownRuleError(LookupError):
    """The rule does not exist; `nearest` lists similar names, the closest first."""

    def __init__(self, name: str, nearest: list[str]) -> None:
        super().__init__(name)
        self.name = name
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class Listing:
    """Every rule that can be explained."""

    policies: tuple[Rule, ...]
    requirements: tuple[tuple[Requirement, tuple[Rule, ...]], ...]
    """Each with the rules of the pack that enforce it."""
    own: tuple[Rule, ...]
    """Policies that report on the configuration of the pack."""


def listing() -> Listing:
    """Return every rule, in the order of the pack and of the document."""
    judged = rules_by_requirement()
    every = requirements().values()
    enforced = tuple((each, tuple(judged[each.id])) for each in every)
    return Listing(rules(), enforced, own_policies())


def find(name: str, every: Listing) -> Rule | tuple[Requirement, tuple[Rule, ...]]:
    """Return the rule of the pack, or the requirement with its rules, of this name.

    Raises:
        UnknownRuleError: no rule has this name.
    """
    wanted = name.strip().lower().replace("_", "-")
    by_name: dict[str, Rule | tuple[Requirement, tuple[Rule, ...]]] = {
        rule.name: rule for rule in (*every.policies, *every.own)
    }
    by_name |= {each[0].id.lower(): each for each in every.requirements}
    if wanted in by_name:
        return by_name[wanted]
    holding = [each for each in by_name if len(wanted) >= _SHORTEST_WORD and wanted in each]
    near = holding[:_NEAREST] or difflib.get_close_matches(wanted, by_name, n=_NEAREST, cutoff=0.4)
    raise UnknownRuleError(name, [each.upper() if len(each) < 4 else each for each in near])


def rule_as_json(rule: Rule, *, today: date) -> dict[str, Any]:
    """Return everything about a rule of the pack, as plain JSON."""
    found: dict[str, Any] = {
        "kind": "policy",
        "name": rule.name,
        "holds": rule.text.holds,
        "why": _line(rule.text.why),
        "fix": _line(rule.text.fix),
        "sources": list(rule.text.sources),
        "enforced": {"policy": [f"{rule.module}.py"]},
        "enforces": list(rule.requirements),
        "elsewhere": {name: list(requirements()[name].enforced) for name in rule.requirements},
        "level": rule.level,
        "severity": rule.severity,
        "configuration": {
            key: str(schema.get("description", "")) for key, schema in rule.configuration.items()
        },
    }
    # The policies that report on suppressions cannot be suppressed.
    example = {"suppression": {rule.name: _example(today)}} if rule.text.sources else {}
    return {**found, **example}


def requirement_as_json(requirement: Requirement, judged: tuple[Rule, ...]) -> dict[str, Any]:
    """Return everything about a requirement, as plain JSON."""
    places = {**requirement.enforced, "policy": tuple(rule.name for rule in judged)}
    stages = stages_of(requirement, in_pack=bool(judged))
    return {
        "kind": "rule",
        "name": requirement.id,
        "holds": requirement.holds,
        "why": requirement.why,
        "fix": requirement.fix,
        "sources": list(requirement.sources),
        "enforced": {stage: list(places[stage]) for stage in stages},
        "left_out": requirement.left_out,
        "note": requirement.note,
        "severity": requirement.severity,
    }


def _example(today: date) -> dict[str, Any]:
    return {
        "suppressions": [
            {
                "resource": "NAME",
                "reason": "why it does not count there",
                "expires": str(today + timedelta(days=EXAMPLE_DAYS)),
            }
        ]
    }


def stage_in_words(stage: str) -> str:
    """Return what a stage does, such as `the plan of a stack refuses it`."""
    return STAGES[stage]


def _line(text: str) -> str:
    return " ".join(text.split())
