"""The rules of the policy pack as data, for documents and `./trainyard explain`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from trainyard.policies.pack.configured import announcements
from trainyard.policies.pack.discovery import rule_modules
from trainyard.policies.pack.lookup import ReservationLookup
from trainyard.policies.pack.suppressions import Ledger
from trainyard.policies.rule import RuleText

REQUIREMENT = re.compile(r"[A-H]\d+")
"""Tags of this form are ids of requirements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One policy that the pack serves."""

    name: str
    topic: str
    module: str
    """Its file without the suffix, such as `policies/rules/efa/efa_interface_count`."""
    level: str
    """`mandatory` or `advisory`, by default."""
    severity: str
    text: RuleText
    url: str
    tags: tuple[str, ...]
    configuration: Mapping[str, Mapping[str, Any]]
    """JSON Schema of each configuration key of the rule."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """Ids of the requirements that it enforces, such as `A4`."""
        return tuple(tag for tag in self.tags if REQUIREMENT.fullmatch(tag))


def rules() -> tuple[Rule, ...]:
    """Return every rule, in the order of the pack."""
    return tuple(_rule(module) for module in rule_modules())


def own_policies() -> tuple[Rule, ...]:
    """Return the policies that report on suppressions and lookups, which are not rules."""
    return tuple(
        _served(
            policy,
            module=_path_of(announcements.__module__),
            text=RuleText(
                holds=policy.description, why="", fix=policy.remediation_steps or "", sources=()
            ),
        )
        for policy in announcements(Ledger(), ReservationLookup())
    )


def _path_of(module: str) -> str:
    return module.removeprefix("trainyard.").replace(".", "/")


def _rule(module: ModuleType) -> Rule:
    return _served(
        module.POLICY,
        module=_path_of(module.__name__),
        text=RuleText.parsed(module.__doc__),
    )


def _served(policy: Any, *, module: str, text: RuleText) -> Rule:
    return Rule(
        name=policy.name,
        topic=policy.tags[0],
        module=module,
        level=policy.enforcement_level.value,
        severity=policy.severity.value,
        text=text,
        url=policy.url or "",
        tags=tuple(policy.tags),
        configuration=policy.config_schema.properties if policy.config_schema else {},
    )
