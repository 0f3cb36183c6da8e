"""The form of a rule: the text in the docstring of its module, and a check.

The docstring is the only text of a rule. Its first line says what must hold, `Why:` and `Fix:`
explain it, and `Source:` lists pages; the rule links to the first one. The module path gives the
name and the topic. The documents and the output of the pack use these fields.

A check reports everything that it finds. The rule makes one violation of what it found on one
resource, because the engine prints each on its own: a launch template with 32 interfaces would hide
all other violations. The rule then reports an unknown value that it needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

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
        found = ((None, each) for each in check(args.resource_type, facts, args.get_config()))
        _report_once(found, lambda _: args.name, report_violation)
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
        found = check(stack, args.get_config())
        _report_once(found, lambda urn: stack.facts_of(urn).name, report_violation)
        stack.say_what_is_undecided()

    fields = _fields(module, docstring, level, severity, tags, config_schema)
    return StackValidationPolicy(**fields, validate=validate)


Urn = TypeVar("Urn", str, None)


def _report_once(
    found: Iterable[tuple[Urn, str]], name_of: Callable[[Urn], str], report: ReportViolation
) -> None:
    """Report one violation for each resource, also if the check ends with an unknown value."""
    faults: dict[Urn, list[str]] = {}
    try:
        for urn, message in found:
            faults.setdefault(urn, []).append(message)
    finally:
        for urn, messages in faults.items():
            report(f"{name_of(urn)}: {together(messages)}", urn)


def together(messages: Iterable[str]) -> str:
    """Return one message with all findings of a rule on a resource, in order.

    Equal messages are one. Messages that differ in a few words only, such as the number of an
    interface, are the first of them with these words of the others: `interface 1 (also 2 and 3)`.

    Args:
        messages: What is wrong, each with its fix behind a semicolon.
    """
    groups: list[list[list[str]]] = []
    for message in dict.fromkeys(messages):
        words = message.split(" ")
        alike = next((each for each in groups if _middles([*each, words])), None)
        if alike is None:
            groups.append([words])
        else:
            alike.append(words)
    return "; also: ".join(map(_listed, groups))


def _listed(alike: Sequence[Sequence[str]]) -> str:
    if len(alike) == 1:
        return " ".join(alike[0])
    middles = _middles(alike)
    first = len(_shared(alike))
    before, after = alike[0][:first], alike[0][first + len(middles[0]) :]
    mark = next((each for each in ",:" if all(m[-1].endswith(each) for m in middles)), "")
    named, *others = (" ".join(each).removesuffix(mark) for each in middles)
    listed = " and ".join(filter(None, (", ".join(others[:-1]), others[-1])))
    return " ".join([*before, named, f"(also {listed}){mark}", *after])


def _middles(alike: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the words in which messages differ; empty if they are more than those that agree."""
    first = len(_shared(alike))
    rest = [each[first:] for each in alike]
    last = len(_shared([each[::-1] for each in rest]))
    while last and any(_is_open(each[: len(each) - last]) for each in rest):
        last -= 1
    middles = [each[: len(each) - last] for each in rest]
    longest = max(map(len, middles))
    return middles if all(middles) and longest < first + last and last else []


def _shared(alike: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the words with which all messages begin."""
    columns = itertools.takewhile(lambda words: len(set(words)) == 1, zip(*alike, strict=False))
    return [words[0] for words in columns]


def _is_open(words: Sequence[str]) -> bool:
    text = " ".join(words)
    return text.count("(") != text.count(")")


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
