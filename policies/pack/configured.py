"""Rules as the pack serves them: with suppressions and lookups, and with policies that report both.

A rule does not know about either. The pack serves it as a policy of the same name with additional
configuration keys, and passes the remaining violations on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyProviderResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from trainyard.policies.pack.lookup import (
    LOOKUP,
    LOOKUP_SCHEMA,
    OF_ANOTHER_ACCOUNT,
    ReservationLookup,
)
from trainyard.policies.pack.suppressions import SCHEMA, SUPPRESSIONS, Ledger, suppressions_of
from trainyard.policies.resources.reservations import DECLARED_KEYS
from trainyard.policies.rule import Rule

Validate = Callable[[Any, ReportViolation], None]


def served(rules: Sequence[Rule], lookup: ReservationLookup | None = None) -> list[Rule]:
    """Return the policies of a pack with these rules, and those that report on it."""
    ledger, lookup = Ledger(), lookup or ReservationLookup()
    return [*(configured(rule, ledger, lookup) for rule in rules), *announcements(ledger, lookup)]


def configured(rule: Rule, ledger: Ledger, lookup: ReservationLookup) -> Rule:
    """Return a rule as the pack serves it."""
    if isinstance(rule, ResourceValidationPolicy):
        return ResourceValidationPolicy(
            **_described(rule), validate=_on_resource(rule, ledger, lookup)
        )
    return StackValidationPolicy(**_described(rule), validate=_on_stack(rule, ledger, lookup))


def _described(rule: Rule) -> dict[str, Any]:
    """Return the description of a rule, with the keys of the pack in its schema."""
    own = rule.config_schema
    properties = dict(own.properties) if own else {}
    if not DECLARED_KEYS.isdisjoint(properties):
        properties[LOOKUP] = dict(LOOKUP_SCHEMA)
    properties[SUPPRESSIONS] = dict(SCHEMA)
    return {
        "name": rule.name,
        "description": rule.description,
        "enforcement_level": rule.enforcement_level,
        "config_schema": PolicyConfigSchema(properties, own.required if own else None),
        "display_name": rule.display_name,
        "severity": rule.severity,
        "framework": rule.framework,
        "tags": rule.tags,
        "remediation_steps": rule.remediation_steps,
        "url": rule.url,
    }


def _on_resource(
    rule: ResourceValidationPolicy, ledger: Ledger, lookup: ReservationLookup
) -> Validate:
    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        config = args.get_config()
        if not config:  # the common case: every rule runs on every resource
            rule.validate(args, report_violation)
            return
        given = suppressions_of(rule.name, config)
        ledger.see(given)

        def report(message: str, urn: str | None = None) -> None:
            left = ledger.judge(given, args.name, args.urn, message)
            if left is not None:
                report_violation(left, urn)

        completed = _completed(config, lookup, lambda: _regions([args.provider], lookup))
        rule.validate(with_config(args, completed), report)

    return validate


def _on_stack(rule: StackValidationPolicy, ledger: Ledger, lookup: ReservationLookup) -> Validate:
    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        config = args.get_config()
        given = suppressions_of(rule.name, config)
        ledger.see(given)

        def report(message: str, urn: str | None = None) -> None:
            name = (urn or "").rpartition("::")[2]
            left = ledger.judge(given, name, urn or "", message)
            if left is not None:
                report_violation(left, urn)

        def regions() -> frozenset[str | None]:
            return _regions((each.provider for each in args.resources), lookup)

        completed = _completed(config, lookup, regions)
        rule.validate(StackValidationArgs(args.resources, completed, args.stack_tags), report)

    return validate


def with_config(
    args: ResourceValidationArgs, config: Mapping[str, Any] | None
) -> ResourceValidationArgs:
    """Return the arguments of a rule with another configuration."""
    return ResourceValidationArgs(
        args.resource_type,
        args.props,
        args.urn,
        args.name,
        args.opts,
        args.provider,
        config,
        args.stack_tags,
    )


class _LookedUp(Mapping[str, Any]):
    """Configuration of a rule that asks EC2 when the rule first reads a key of reservations."""

    def __init__(self, given: Mapping[str, Any], look_up: Callable[[], Mapping[str, Any]]) -> None:
        self._given = given
        self._look_up = look_up
        self._all: Mapping[str, Any] | None = None

    def __getitem__(self, key: str) -> Any:
        if key not in DECLARED_KEYS:
            return self._given[key]
        if self._all is None:
            self._all = self._look_up()
        return self._all[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given.keys() | DECLARED_KEYS)

    def __len__(self) -> int:
        return len(self._given.keys() | DECLARED_KEYS)


def _completed(
    config: Mapping[str, Any],
    lookup: ReservationLookup,
    regions: Callable[[], frozenset[str | None]],
) -> Mapping[str, Any]:
    """Return the configuration of a rule, with reservations from EC2 if `lookup` is on."""
    if not config.get(LOOKUP):
        return config
    return _LookedUp(config, lambda: lookup.completed(config, regions()))


def _regions(
    providers: Iterable[PolicyProviderResource | None], lookup: ReservationLookup
) -> frozenset[Any]:
    """Return the regions of the AWS providers; None means the region of the environment.

    Providers of another account than that of the environment are left out.
    """
    of_aws = [each for each in providers if each and each.resource_type == "pulumi:providers:aws"]
    elsewhere = [setting for each in of_aws for setting in _settings(each)]
    for setting in elsewhere:
        lookup.leave_out(setting)
    found = {_region(each) for each in of_aws if not any(_settings(each))}
    return frozenset(found or (() if elsewhere else {None}))


def _settings(provider: PolicyProviderResource) -> Iterator[str]:
    """Yield the settings of a provider with which it reaches another account."""
    for setting in OF_ANOTHER_ACCOUNT:
        try:
            is_set = bool(provider.props.get(setting))
        except UnknownValueError:
            is_set = True
        if is_set:
            yield setting


def _region(provider: PolicyProviderResource) -> str | None:
    try:
        return provider.props.get("region")
    except UnknownValueError:
        return None


Messages = Callable[[], Iterator[tuple[str | None, str]]]
"""Yields URNs (None for the stack) and messages."""


def announcements(ledger: Ledger, lookup: ReservationLookup) -> list[StackValidationPolicy]:
    """Return the policies that report on suppressions and lookups; they run after every rule.

    The SDK has no other output than violations, and each has the level of its policy.
    """

    def use() -> Iterator[tuple[str | None, str]]:
        yield from ledger.used()
        yield from ((None, message) for message in ledger.unused())

    def expiry() -> Iterator[tuple[str | None, str]]:
        return ((None, message) for message in ledger.expired())

    def failures() -> Iterator[tuple[str | None, str]]:
        return ((None, message) for message in lookup.failures)

    return [
        StackValidationPolicy(
            name="suppressions",
            display_name="Suppressions in use",
            description="Reports violations that are suppressed, and suppressions without effect.",
            enforcement_level=EnforcementLevel.ADVISORY,
            severity=Severity.LOW,
            tags=["pack"],
            remediation_steps="Fix the resource before the last day of the suppression.",
            validate=_telling(use),
        ),
        StackValidationPolicy(
            name="expired-suppressions",
            display_name="No suppression has expired",
            description="A suppression applies until its last day, and is an error after it.",
            enforcement_level=EnforcementLevel.MANDATORY,
            severity=Severity.MEDIUM,
            tags=["pack"],
            remediation_steps="Fix the resource and remove the suppression, or extend it.",
            validate=_telling(expiry),
        ),
        StackValidationPolicy(
            name="account-lookup",
            display_name="Reservations were looked up",
            description="Reports why a lookup of reservations in the account failed.",
            enforcement_level=EnforcementLevel.ADVISORY,
            severity=Severity.LOW,
            tags=["pack"],
            remediation_steps="Allow ec2:DescribeCapacityReservations, or declare reservations.",
            validate=_telling(failures),
        ),
    ]


def _telling(messages: Messages) -> Callable[[StackValidationArgs, ReportViolation], None]:
    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        known = {resource.urn for resource in args.resources}
        for urn, message in messages():
            report_violation(message, urn if urn in known else None)

    return validate
