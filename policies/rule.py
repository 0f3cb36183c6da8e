"""The two shapes of a rule: on one resource, and on resources that must agree.

Both say nothing of other types before a property is read, report everything that they find, and
only then say what could not be decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pulumi_policy import (
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.resources.props import Facts
from policies.resources.stack import Stack

Rule = ResourceValidationPolicy | StackValidationPolicy
Config = Mapping[str, Any]
ResourceCheck = Callable[[str, Facts, Config], Iterator[str]]
"""Takes the type, the properties and the rule's configuration, and yields messages."""
StackCheck = Callable[[Stack, Config], Iterator[tuple[str, str]]]
"""Takes the stack and the rule's configuration, and yields the URN at fault and a message."""


def on_types(
    *types: str, check: ResourceCheck
) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    """Return the SDK's callback for a rule on resources of some types."""
    wanted = frozenset(types)

    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        if args.resource_type not in wanted:
            return
        facts = Facts(args.name, args.props)
        for message in check(args.resource_type, facts, args.get_config()):
            report_violation(f"{args.name}: {message}", None)
        facts.say_what_is_undecided()

    return validate


def on_stack(check: StackCheck) -> Callable[[StackValidationArgs, ReportViolation], None]:
    """Return the SDK's callback for a rule on resources that must agree."""

    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        stack = Stack(args.resources)
        for urn, message in check(stack, args.get_config()):
            report_violation(f"{stack.facts_of(urn).name}: {message}", urn)
        stack.say_what_is_undecided()

    return validate
