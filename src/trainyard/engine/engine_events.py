"""Errors and resource changes from the engine's event log.

Source: https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/events.go
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.workspace.urns import name_of, type_of

_COLOUR = re.compile(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*m")
"""Color markers that the engine writes into its events."""


@dataclass(frozen=True, slots=True)
class EngineError:
    """An error that the engine reported."""

    urn: str
    """URN of the resource; empty if the error does not belong to a resource."""
    message: str

    @property
    def resource_type(self) -> str:
        """Type token of the resource, such as `kubernetes:apps/v1:DaemonSet`."""
        return type_of(self.urn)

    @property
    def resource_name(self) -> str:
        """Logical name of the resource."""
        return name_of(self.urn)


def without_color(text: str) -> str:
    """Return a text of the engine without its color markers."""
    return _COLOUR.sub("", text)


def engine_errors(log: str) -> tuple[EngineError, ...]:
    """Return the errors in an event log, without duplicates, in the engine's order.

    A truncated last line, which a killed engine leaves, is ignored.
    """
    found = (
        EngineError(event.get("urn") or "", without_color(event["message"]).strip())
        for event in _events(log, "diagnosticEvent")
        if event.get("severity") == "error"
    )
    return tuple(dict.fromkeys(found))


def resource_changes(log: str) -> dict[str, int]:
    """Return the number of resources by operation, planned or done.

    Empty if the engine did not finish.
    """
    return dict(next((e.get("resourceChanges") or {} for e in _events(log, "summaryEvent")), {}))


_CANCELLING = "received; cancelling"
"""What the engine writes when it receives Ctrl-C or SIGTERM. Its errors depend on the moment.
https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/backend/cancellation_scope.go"""


def is_canceled(log: str) -> bool:
    """Return whether the engine was asked to stop before its operation was complete."""
    return any(_CANCELLING in (e.get("message") or "") for e in _events(log, "stdoutEvent"))


def preview_succeeded(log: str) -> bool:
    """Return whether the last operation of an event log is a preview that succeeded."""
    *_, last = ({}, *_events(log, "summaryEvent"))
    return bool(last.get("isPreview")) and last.get("result") == "succeeded"


def operations_begun(log: str) -> int:
    """Return the number of changes that an operation, other than a preview, has begun."""
    steps = (event for event in _events(log, "resourcePreEvent") if not event.get("planning"))
    return sum((step.get("metadata") or {}).get("op") not in _CHANGE_NOTHING for step in steps)


_CHANGE_NOTHING = frozenset({"same", "read", "refresh"})


def _events(log: str, kind: str) -> Iterator[Mapping[str, Any]]:
    key = f'"{kind}"'
    for line in log.splitlines():
        if key not in line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and kind in event:
            yield event[kind]
