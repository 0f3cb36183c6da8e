"""Run rules like the Pulumi policy SDK: on its proxies, with its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pulumi_policy import (
    PolicyResource,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.policy import Policy, PolicyCustomTimeouts, PolicyResourceOptions
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

UNKNOWN = UNKNOWN_STRING_VALUE
"""The engine's placeholder for a value that is unknown during a preview."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A resource as a program declares it."""

    type: str
    name: str
    props: Mapping[str, Any] = field(default_factory=dict)
    depends: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By property, the names of the resources whose outputs it uses."""
    protect: bool = False

    @property
    def urn(self) -> str:
        """The resource's URN."""
        return f"urn:pulumi:test::trainyard::{self.type}::{self.name}"


Program = tuple[Declared, ...]


@dataclass(frozen=True, slots=True)
class RulePrograms:
    """The programs of one rule's test module."""

    violating: tuple[Program, ...]
    clean: tuple[Program, ...]
    config: Mapping[str, Any]


@dataclass(slots=True)
class Findings:
    """The result of a rule for a program."""

    messages: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    """Errors that the SDK reports as the advisory that it could not run the rule."""


def check(policy: Policy, *program: Declared, config: Mapping[str, Any] | None = None) -> Findings:
    """Return the result of a rule for a program."""
    findings = Findings()

    def report(message: str, urn: str | None = None) -> None:
        assert urn is None or urn in {declared.urn for declared in program}
        findings.messages.append(message)

    def run(validate: Any, args: Any) -> None:
        try:
            validate(args, report)
        except UnknownValueError as unknown:
            findings.undecided.append(unknown.message)

    if isinstance(policy, ResourceValidationPolicy):
        for declared in program:
            run(policy.validate, _resource_args(declared, config))
    elif isinstance(policy, StackValidationPolicy):
        run(policy.validate, StackValidationArgs(_resources(program), config))
    return findings


def _resource_args(declared: Declared, config: Mapping[str, Any] | None) -> ResourceValidationArgs:
    props = unknown_checking_proxy(as_sent(declared.props))
    return ResourceValidationArgs(
        declared.type, props, declared.urn, declared.name, _options(declared), None, config
    )


def _resources(program: Sequence[Declared]) -> list[PolicyResource]:
    made = [
        PolicyResource(
            declared.type,
            unknown_checking_proxy(as_sent(declared.props)),
            declared.urn,
            declared.name,
            _options(declared),
            None,
            None,
            [],
            {},
        )
        for declared in program
    ]
    for declared, resource in zip(program, made, strict=True):
        resource.property_dependencies.update(
            {
                # Resources of different types may have the same name; the name then means all of
                # them.
                key: [
                    each for n in names for each in made if each.name == n and each is not resource
                ]
                for key, names in declared.depends.items()
            }
        )
    return made


def _options(declared: Declared) -> PolicyResourceOptions:
    return PolicyResourceOptions(
        protect=declared.protect,
        ignore_changes=[],
        delete_before_replace=None,
        aliases=[],
        custom_timeouts=PolicyCustomTimeouts(0, 0, 0),
        additional_secret_outputs=[],
    )


def as_sent(value: Any) -> Any:
    """Return the value as it arrives over gRPC, where every number is a float."""
    if isinstance(value, str | bool):  # most are; a Mapping is the slowest test
        return value
    if isinstance(value, Mapping):
        return {key: as_sent(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_sent(item) for item in value]
    return float(value) if isinstance(value, int) else value
