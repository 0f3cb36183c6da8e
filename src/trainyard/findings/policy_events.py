"""Findings of the policy pack and the engine, from the event log of a preview."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from trainyard.components.config.problems import ROOT
from trainyard.findings.finding import Finding, Level, Positions
from trainyard.stack_files.stack_entries import entries_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.urns import name_of


class ResourcePlaces:
    """Lines of a stack file by resource."""

    def __init__(self, stack_file: StackFile) -> None:
        self._positions = Positions(stack_file.path)
        self._cluster = stack_file.cluster

    def line_of(self, urn: str) -> int:
        """Return the line of the entry that a resource was created for.

        A resource without an entry, or with two entries of the same name, belongs to the whole
        cluster.
        """
        found = entries_of(name_of(urn), self._cluster)
        key = ".".join((ROOT, *found[0])) if len(found) == 1 else ROOT
        return self._positions.line_of(key)


SUPPRESSIONS = "suppressions"
"""The policy that reports suppressions, as named in `policies/pack/configured.py`."""

_SUPPRESSED = re.compile(
    r"(?P<rule>[a-z0-9-]+) is (?P<reason>suppressed until .+?); it would say: (?P<message>.+)",
    flags=re.DOTALL,
)
_UNDECIDED = ("not checked in this preview", "can't run policy")
"""Beginnings of the messages about an unknown value: that of the pack, and that of the SDK in
https://github.com/pulumi/pulumi-policy/blob/v1.21.0/sdk/python/lib/pulumi_policy/policy.py"""
_LEVELS: Mapping[str, Level] = {"mandatory": "error", "remediate": "error", "advisory": "warning"}
"""Levels by enforcement level.

https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/policy.go, EnforcementLevel
"""


def event_findings(log: str, stack_file: StackFile) -> list[Finding]:
    """Return the findings in a preview's event log, in the engine's order.

    A violation of a mandatory rule is an error, of an advisory rule a warning. Undecided rules and
    suppressed violations are notes. Other errors (of the program, a provider or the engine) have
    the rule `engine/error`.
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
    # The engine puts the rule's description on a separate line before the message.
    said = event["message"].strip()
    message = said.partition("\n")[2].strip() or said
    level = _LEVELS.get(event["enforcementLevel"], "note")
    found = Finding(
        rule=event["policyName"],
        stage="policy",
        level="note" if message.startswith(_UNDECIDED) else level,
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
    # A preview may evaluate a resource more than once, for example for a replacement.
    return list(dict.fromkeys(violations))


def _errors(
    events: list[Mapping[str, Any]],
    stack_file: StackFile,
    places: ResourcePlaces,
    violations: list[Finding],
) -> Iterator[Finding]:
    """Yield the errors that are not violations.

    The engine's final error counts only if it is alone.
    """
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
