"""What the pack adds to every rule: suppressions, and facts of the account that are looked up.

A rule knows nothing of either. It is served as a policy of the same name whose configuration has
the additional keys, and which passes on to the rule what is left after them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pulumi_policy import (
    PolicyConfigSchema,
    PolicyProviderResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UnknownValueError

from policies import suppressions
from policies.account_facts import LOOKUP, LOOKUP_SCHEMA, RESERVATION_KEYS
from policies.announcements import announcements
from policies.reservation_lookup import ReservationLookup
from policies.rule import Rule
from policies.suppressions import Ledger, suppressions_of

Validate = Callable[[Any, ReportViolation], None]


def served(
    rules: Sequence[Rule], ledger: Ledger | None = None, lookup: ReservationLookup | None = None
) -> list[Rule]:
    """Return the policies of a pack of these rules; of its own ledger and lookup, if not given."""
    ledger, lookup = ledger or Ledger(), lookup or ReservationLookup()
    return [*(configured(rule, ledger, lookup) for rule in rules), *announcements(ledger, lookup)]


def configured(rule: Rule, ledger: Ledger, lookup: ReservationLookup) -> Rule:
    """Return a rule as the pack serves it."""
    if isinstance(rule, ResourceValidationPolicy):
        return ResourceValidationPolicy(
            **_described(rule), validate=_on_resource(rule, ledger, lookup)
        )
    return StackValidationPolicy(**_described(rule), validate=_on_stack(rule, ledger, lookup))


def _described(rule: Rule) -> dict[str, Any]:
    """Return what a rule says of itself, with the keys of the pack in its schema."""
    own = rule.config_schema
    properties = dict(own.properties) if own else {}
    if not RESERVATION_KEYS.isdisjoint(properties):
        properties[LOOKUP] = dict(LOOKUP_SCHEMA)
    properties[suppressions.SUPPRESSIONS] = dict(suppressions.SCHEMA)
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
        if not config:  # as most rules are: each is asked of each resource
            rule.validate(args, report_violation)
            return
        given = suppressions_of(rule.name, config)
        ledger.see(given)

        def report(message: str, urn: str | None = None) -> None:
            left = ledger.judge(given, args.name, args.urn, message)
            if left is not None:
                report_violation(left, urn)

        rule.validate(
            ResourceValidationArgs(
                args.resource_type,
                args.props,
                args.urn,
                args.name,
                args.opts,
                args.provider,
                _completed(config, lookup, lambda: _regions([args.provider])),
                args.stack_tags,
            ),
            report,
        )

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
            return _regions(resource.provider for resource in args.resources)

        completed = _completed(config, lookup, regions)
        rule.validate(StackValidationArgs(args.resources, completed, args.stack_tags), report)

    return validate


class _LookedUp(Mapping[str, Any]):
    """A rule's configuration that asks EC2 when the rule first asks for a reservation."""

    def __init__(self, given: Mapping[str, Any], look_up: Callable[[], Mapping[str, Any]]) -> None:
        self._given = given
        self._look_up = look_up
        self._all: Mapping[str, Any] | None = None

    def __getitem__(self, key: str) -> Any:
        if key not in RESERVATION_KEYS:
            return self._given[key]
        if self._all is None:
            self._all = self._look_up()
        return self._all[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given.keys() | RESERVATION_KEYS)

    def __len__(self) -> int:
        return len(self._given.keys() | RESERVATION_KEYS)


def _completed(
    config: Mapping[str, Any],
    lookup: ReservationLookup,
    regions: Callable[[], frozenset[str | None]],
) -> Mapping[str, Any]:
    """Return a rule's configuration, with what EC2 says of reservations where that is allowed."""
    if not config.get(LOOKUP):
        return config
    return _LookedUp(config, lambda: lookup.completed(config, regions()))


def _regions(providers: Iterable[PolicyProviderResource | None]) -> frozenset[Any]:
    """Return the regions of providers of AWS; None stands for the one of the environment."""
    found = {
        _region(provider)
        for provider in providers
        if provider is not None and provider.resource_type == "pulumi:providers:aws"
    }
    return frozenset(found or {None})


def _region(provider: PolicyProviderResource) -> str | None:
    try:
        return provider.props.get("region")
    except UnknownValueError:
        return None
