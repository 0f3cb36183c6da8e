"""Messages of the program, the providers, the engine and the policies, each once."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from trainyard.engine.engine_events import without_color
from trainyard.progress.operation import short_type
from trainyard.workspace.urns import name_of, type_of

_SHOWN = frozenset({"error", "warning", "info", "info#err"})
"""Severities of messages for the user; `debug` is not.
https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/diag/sink.go"""


class Messages:
    """Texts for the messages in an event log. A preview and its update report the same ones."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def read(self, event: Mapping[str, Any]) -> str:
        """Return the text of a message; empty if the event has none, or it was returned before."""
        text = _text(event).rstrip()
        if not text.strip() or text in self._told:
            return ""
        self._told.add(text)
        return text


def _text(event: Mapping[str, Any]) -> str:
    if "diagnosticEvent" in event:
        return _diagnostic(event["diagnosticEvent"])
    if "policyEvent" in event:
        return _violation(event["policyEvent"])
    if "summaryEvent" in event:
        return _policy_packs(event["summaryEvent"])
    return without_color(event.get("stdoutEvent", {}).get("message") or "")


def _policy_packs(summary: Mapping[str, Any]) -> str:
    """Return which policy packs have run.

    https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/events.go, `SummaryEvent`;
    the key of a local pack also has its directory.
    """
    packs: Mapping[str, str] = summary.get("PolicyPacks") or {}
    names = [f"{key.partition('|')[0]}@{version}" for key, version in sorted(packs.items())]
    return f"checked by the policy pack {', '.join(names)}" if names else ""


def _diagnostic(event: Mapping[str, Any]) -> str:
    message = without_color(event["message"]).strip("\n")
    # An ephemeral message is a status that the next one replaces.
    if event["severity"] not in _SHOWN or event.get("ephemeral") or not message.strip():
        return ""
    prefix = without_color(event.get("prefix") or "")
    return f"{prefix}{_of(event.get('urn') or '')}{message}"


def _violation(event: Mapping[str, Any]) -> str:
    urn = event.get("resourceUrn") or ""
    place = f" ({short_type(type_of(urn))} {name_of(urn)})" if type_of(urn) else ""
    heading = f"[{event['enforcementLevel']}] {event['policyName']}{place}"
    return f"{heading}\n{textwrap.indent(without_color(event['message']).strip(), '  ')}"


def _of(urn: str) -> str:
    return f"{short_type(type_of(urn))} {name_of(urn)}: " if type_of(urn) else ""
