"""What a stack would register, from the event log of a preview."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.workspace.urns import name_of, type_of

# The engine writes these markers for values that are known only after the update, by JSON type:
# https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/resource/plugin/rpc.go
UNKNOWN = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d"  # noqa: S105 - a marker, not a secret
UNKNOWN_MARKER = "<known after the update>"
SECRET_MARKER = "<secret>"  # noqa: S105 - a marker, not a secret
RANDOM_MARKER = "<random>"
STACK_TYPE = "pulumi:pulumi:Stack"


def plan_of_events(text: str, *, stack: str) -> dict[str, Any]:
    """Return `{"stack", "resources", "outputs"}` from the event log of an empty stack's preview.

    Resources are sorted by type and name; `parent` is the parent's type and name, or None for the
    stack itself. Markers replace values that are known only after the update, secrets, and the
    random suffixes of auto-generated names, so that two plans of one stack file are identical.
    """
    events = [json.loads(line) for line in text.splitlines()]
    planned = [state for event in events for state in _states(event, "resourcePreEvent")]
    ended = [state for event in events for state in _states(event, "resOutputsEvent")]
    outputs = [state.get("outputs") or {} for state in ended if state["type"] == STACK_TYPE]
    # A resource has one event for its step and one for its outputs; the first is sufficient.
    by_urn = {state["urn"]: state for state in reversed(planned) if _is_registered(state)}
    resources = [_resource(state) for state in by_urn.values()]
    names = _generated_names(resources)
    return {
        "stack": stack,
        "resources": sorted(
            (_without_random(r, names) for r in resources), key=lambda r: (r["type"], r["name"])
        ),
        "outputs": _without_random(readable(outputs[-1]), names) if outputs else {},
    }


def _is_registered(state: Mapping[str, Any]) -> bool:
    """Whether the program registered it; the engine creates the stack and default providers."""
    is_default = state["type"].startswith("pulumi:providers:") and name_of(state["urn"]).startswith(
        "default"
    )
    return state["type"] != STACK_TYPE and not is_default


def _states(event: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the new resource state in an event of this kind."""
    state = event.get(kind, {}).get("metadata", {}).get("new")
    if state:
        yield state


def _generated_names(resources: list[dict[str, Any]]) -> dict[str, str]:
    """Return a marker for each auto-generated physical name, by that name."""
    found: dict[str, str] = {}
    for resource in resources:
        made = re.compile(rf"{re.escape(resource['name'])}-[0-9a-f]{{7}}")
        for value in resource["inputs"].values():
            if isinstance(value, str) and made.fullmatch(value):
                found[value] = f"{resource['name']}-{RANDOM_MARKER}"
    return found


def _without_random(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_random(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_random(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


def readable(value: Any) -> Any:
    """Return a value of the engine's JSON with markers for secrets and unknown values."""
    if isinstance(value, Mapping):
        if SECRET_SIGNATURE in value:
            return SECRET_MARKER
        return {key: readable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [readable(inner) for inner in value]
    if value == "[secret]":
        return SECRET_MARKER
    return UNKNOWN_MARKER if isinstance(value, str) and value in UNKNOWN else value


def _resource(state: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": state["type"],
        "name": name_of(state["urn"]),
        "parent": _parent(state.get("parent")),
        "inputs": readable(state.get("inputs") or {}),
    }


def _parent(urn: str | None) -> str | None:
    if not urn:
        return None
    parent_type = type_of(urn)
    return None if parent_type == STACK_TYPE else f"{parent_type}::{name_of(urn)}"
