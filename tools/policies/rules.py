"""The rules of the policy pack as data: what each says of itself and in its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from policies.pack.configured import announcements
from policies.pack.discovery import rule_modules
from policies.pack.lookup import ReservationLookup
from policies.pack.suppressions import Ledger

_SECTION = re.compile(r"^(Why|Fix|Source):\n((?:    .*\n?|\n)+)", flags=re.MULTILINE)
REQUIREMENT = re.compile(r"[A-H]\d+")
"""Tags of this form are ids of requirements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the pack."""

    name: str
    domain: str
    module: str
    """Its file without the suffix, such as `policies/rules/efa/efa_interface_count`."""
    level: str
    """`mandatory` or `advisory`, where nobody configured another."""
    severity: str
    description: str
    """One sentence: what must hold."""
    summary: str
    """The first line of its docstring."""
    why: str
    fix: str
    sources: tuple[str, ...]
    url: str
    tags: tuple[str, ...]
    configuration: Mapping[str, Mapping[str, Any]]
    """JSON Schema of each configuration key of its own."""

    @property
    def requirements(self) -> tuple[str, ...]:
        """Ids of what it enforces, such as `A4`."""
        return tuple(tag for tag in self.tags if REQUIREMENT.fullmatch(tag))


def rules() -> tuple[Rule, ...]:
    """Return every rule, in the order of the pack."""
    return tuple(_rule(module) for module in rule_modules())


def own_policies() -> tuple[Rule, ...]:
    """Return what the pack serves beside its rules: policies that tell of suppressions and lookups.

    They judge the configuration of the pack, and have neither a docstring nor a source.
    """
    return tuple(
        Rule(
            name=policy.name,
            domain="pack",
            module=announcements.__module__.replace(".", "/"),
            level=_level(policy),
            severity=_severity(policy),
            description=policy.description or "",
            summary=policy.display_name or "",
            why="",
            fix=policy.remediation_steps or "",
            sources=(),
            url="",
            tags=tuple(policy.tags or ()),
            configuration={},
        )
        for policy in announcements(Ledger(), ReservationLookup())
    )


def _level(policy: Any) -> str:
    return policy.enforcement_level.value


def _severity(policy: Any) -> str:
    return policy.severity.value


def _rule(module: ModuleType) -> Rule:
    policy, text = module.POLICY, f"{inspect.getdoc(module) or ''}\n"
    parts = dict(_SECTION.findall(text))
    return Rule(
        name=policy.name,
        domain=module.__name__.split(".")[2],
        module=module.__name__.replace(".", "/"),
        level=_level(policy),
        severity=_severity(policy),
        description=policy.description,
        summary=text.partition("\n")[0],
        why=_paragraph(parts["Why"]),
        fix=_paragraph(parts["Fix"]),
        sources=tuple(line.strip() for line in parts["Source"].strip().splitlines()),
        url=policy.url,
        tags=tuple(policy.tags or ()),
        configuration=policy.config_schema.properties if policy.config_schema else {},
    )


def _paragraph(indented: str) -> str:
    return "\n".join(line.strip() for line in indented.strip().splitlines())
