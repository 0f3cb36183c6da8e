"""The form of a rule: the text in the docstring of its module, and a check.

The docstring is the only text of a rule. Its first line says what must hold, `Why:` and `Fix:`
explain it, and `Source:` lists pages; the rule links to the first one. The module path gives the
name and the topic. The documents and the output of the pack use these fields.

A check reports everything that it finds. The rule then reports an unknown value that it needed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)

from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule_names import rule_name

Rule = ResourceValidationPolicy | StackValidationPolicy
Config = Mapping[str, Any]
ResourceCheck = Callable[[str, Facts, Config], Iterator[str]]
"""Takes the type, the properties and the configuration of the rule, and yields messages."""
StackCheck = Callable[[Stack, Config], Iterator[tuple[str, str]]]
"""Takes the stack and the configuration of the rule, and yields URNs and messages."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """The text of a rule."""

    holds: str
    """One sentence: what must hold."""
    why: str
    fix: str
    sources: tuple[str, ...]

    @classmethod
    def parsed(cls, docstring: str | None) -> RuleText:
        """Return the text in the docstring of a rule module; empty with `python -OO`."""
        holds, _, rest = (docstring or "").partition("\n\nWhy:\n")
        why, _, rest = rest.partition("\nFix:\n")
        fix, _, sources = rest.partition("\nSource:\n")
        lines = (line.strip() for line in sources.splitlines())
        return cls(holds, _joined(why), _joined(fix), tuple(line for line in lines if line))


def resource_rule(
    module: str,
    docstring: str | None,
    *,
    level: EnforcementLevel,
    severity: Severity,
    tags: Sequence[str],
    types: Collection[str],
    check: ResourceCheck,
    config_schema: PolicyConfigSchema | None = None,
) -> ResourceValidationPolicy:
    """Return the policy for a rule on single resources of some types.

    Args:
        module: `__name__` of the rule module.
        docstring: `__doc__` of the rule module.
        level: default level.
        severity: severity of a violation.
        tags: further topics, and the ids of the requirements that the rule enforces (`A4`).
        types: types of the resources; the rule reads no property of other types.
        check: yields the messages for a resource, without its name.
        config_schema: configuration of the rule.
    """
    wanted = frozenset(types)

    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        if args.resource_type not in wanted:
            return
        facts = Facts(args.name, args.props)
        for message in check(args.resource_type, facts, args.get_config()):
            report_violation(f"{args.name}: {message}", None)
        facts.say_what_is_undecided()

    fields = _fields(module, docstring, level, severity, tags, config_schema)
    return ResourceValidationPolicy(**fields, validate=validate)


def protection_rule(
    module: str,
    docstring: str | None,
    *,
    level: EnforcementLevel,
    severity: Severity,
    tags: Sequence[str],
    types: Collection[str],
    fault: str,
) -> ResourceValidationPolicy:
    """Return the policy for a rule that requires the resource option `protect`.

    Args as for `resource_rule`; `fault` is the message without the fix.
    """
    wanted = frozenset(types)

    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        if args.resource_type in wanted and not args.opts.protect:
            message = f"{args.name}: {fault}; set the resource option protect"
            report_violation(message, None)

    fields = _fields(module, docstring, level, severity, tags, None)
    return ResourceValidationPolicy(**fields, validate=validate)


def stack_rule(
    module: str,
    docstring: str | None,
    *,
    level: EnforcementLevel,
    severity: Severity,
    tags: Sequence[str],
    check: StackCheck,
    config_schema: PolicyConfigSchema | None = None,
) -> StackValidationPolicy:
    """Return the policy for a rule on several resources of a stack.

    Args as for `resource_rule`; `check` yields the URN of the resource with each message.
    """

    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        stack = Stack(args.resources)
        for urn, message in check(stack, args.get_config()):
            report_violation(f"{stack.facts_of(urn).name}: {message}", urn)
        stack.say_what_is_undecided()

    fields = _fields(module, docstring, level, severity, tags, config_schema)
    return StackValidationPolicy(**fields, validate=validate)


def _fields(
    module: str,
    docstring: str | None,
    level: EnforcementLevel,
    severity: Severity,
    tags: Sequence[str],
    config_schema: PolicyConfigSchema | None,
) -> dict[str, Any]:
    topic, stem = module.split(".")[-2:]
    name, text = rule_name(stem), RuleText.parsed(docstring)
    return {
        "name": name,
        "description": text.holds or name,
        "display_name": text.holds.rstrip(".") or name,
        "enforcement_level": level,
        "severity": severity,
        "tags": [topic, *tags],
        "config_schema": config_schema,
        "remediation_steps": text.fix.replace("\n", " "),
        "url": text.sources[0].partition(",")[0] if text.sources else None,
    }


def _joined(indented: str) -> str:
    return "\n".join(line.strip() for line in indented.strip().splitlines())
