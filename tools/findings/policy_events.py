"""What the policy pack and the engine said in a preview, from its event log."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tools.findings.finding import Finding, Level
from tools.findings.resource_places import ResourcePlaces
from tools.workspace.stack_files import StackFile

SUPPRESSIONS = "suppressions"
"""The policy that reports what is suppressed, as `policies/pack/configured.py` names it."""

_SUPPRESSED = re.compile(
    r"(?P<rule>[a-z0-9-]+) is (?P<reason>suppressed until .+?); it would say: (?P<message>.+)",
    flags=re.DOTALL,
)
_UNDECIDED = "can't run policy"
"""What the SDK says for a rule that lacked a value, in
https://github.com/pulumi/pulumi-policy/blob/v1.21.0/sdk/python/lib/pulumi_policy/policy.py
"""
_LEVELS: Mapping[str, Level] = {"mandatory": "error", "remediate": "error", "advisory": "warning"}
"""Levels by enforcement level.

https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/apitype/policy.go, EnforcementLevel
"""


def event_findings(log: str, stack_file: StackFile) -> list[Finding]:
    """Return what a preview's event log says against the stack, in the engine's order.

    A violation of a mandatory rule is an error, of an advisory one a warning. What a rule could not
    decide yet, and a violation that is suppressed, are notes. An error that is no violation (of the
    program, a provider, the engine) has the rule `engine/error`.
    """
    places = ResourcePlaces(stack_file)
    events = _events(log)
    violations = [
        _violation(event["policyEvent"], stack_file, places)
        for event in events
        if "policyEvent" in event
    ]
    return [*_once(violations), *_errors(events, stack_file, places, violations)]


def _events(log: str) -> list[Mapping[str, Any]]:
    return [json.loads(text) for text in log.splitlines() if text.strip()]


def _violation(event: Mapping[str, Any], stack_file: StackFile, places: ResourcePlaces) -> Finding:
    # The engine puts the rule's description on a line of its own before the message.
    said = event["message"].strip()
    message = said.partition("\n")[2].strip() or said
    found = Finding(
        rule=event["policyName"],
        stage="policy",
        level="note" if _UNDECIDED in said else _LEVELS.get(event["enforcementLevel"], "note"),
        severity=event.get("severity", ""),
        message=message,
        stack=stack_file.stack,
        file=stack_file.path,
        line=places.line_of(event.get("resourceUrn", "")),
        resource=event.get("resourceUrn", ""),
    )
    suppressed = _SUPPRESSED.fullmatch(message) if found.rule == SUPPRESSIONS else None
    if suppressed is None:
        return found
    return replace(
        found,
        rule=suppressed["rule"],
        level="note",
        severity="",
        message=suppressed["message"],
        suppressed=suppressed["reason"],
    )


def _once(violations: list[Finding]) -> list[Finding]:
    # A preview may judge one resource more than once, a replacement for example.
    return list(dict.fromkeys(violations))


def _errors(
    events: list[Mapping[str, Any]],
    stack_file: StackFile,
    places: ResourcePlaces,
    violations: list[Finding],
) -> Iterator[Finding]:
    """Yield the errors that are no violations; the engine's last word counts if it stands alone."""
    found = [
        event["diagnosticEvent"]
        for event in events
        if event.get("diagnosticEvent", {}).get("severity") == "error"
    ]
    refused = any(each.level == "error" for each in violations)
    for diagnostic in found:
        message = diagnostic["message"].strip()
        if message == "preview failed" and (refused or len(found) > 1):
            continue
        yield Finding(
            rule="engine/error",
            stage="engine",
            level="error",
            message=message,
            stack=stack_file.stack,
            file=stack_file.path,
            line=places.line_of(diagnostic.get("urn", "")),
            resource=diagnostic.get("urn", ""),
        )
