"""What the engine reported as errors and changes, from the log of its events.

Source: https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/apitype/events.go
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tools.workspace.urns import name_of, type_of

_COLOUR = re.compile(r"<\{%[^%]*%\}>|\x1b\[[0-9;]*m")
"""Marks of colours, as the engine writes them into its events."""


@dataclass(frozen=True, slots=True)
class EngineError:
    """One error that the engine showed."""

    urn: str
    """Of the resource; empty where the error is of none."""
    message: str

    @property
    def resource_type(self) -> str:
        """Type token of the resource, such as `kubernetes:apps/v1:DaemonSet`."""
        return type_of(self.urn)

    @property
    def resource_name(self) -> str:
        """Logical name of the resource."""
        return name_of(self.urn)


def engine_errors(log: str) -> tuple[EngineError, ...]:
    """Return the errors in an event log, each once, in the engine's order.

    A last line that is cut off, as a killed engine leaves it, is passed over.
    """
    found = (
        EngineError(event.get("urn") or "", _COLOUR.sub("", event["message"]).strip())
        for event in _events(log, "diagnosticEvent")
        if event.get("severity") == "error"
    )
    return tuple(dict.fromkeys(found))


def resource_changes(log: str) -> dict[str, int]:
    """Return how many resources were, or would be, created, changed and so on, by operation.

    Empty where the engine did not come to its end.
    """
    return dict(next((e.get("resourceChanges") or {} for e in _events(log, "summaryEvent")), {}))


def _events(log: str, kind: str) -> Iterator[Mapping[str, Any]]:
    for line in log.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and kind in event:
            yield event[kind]
