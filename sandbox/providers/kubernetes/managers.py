"""Owners of the fields of an object, according to `metadata.managedFields`.

Sources: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managers, and
`PatchReplaceFieldsManagers` of https://github.com/fluxcd/pkg/blob/main/ssa/patch.go
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

CREATOR = "pulumi-kubernetes"
"""Field manager of a create; from the first update on, each resource has its own manager."""
TAKEN_OVER = {
    "Apply": ("kubectl",),
    "Update": ("kubectl", "before-first-apply", CREATOR, "pulumi-resource-kubernetes"),
}
"""Managers whose fields an update takes over, by operation; `fixCSAFieldManagers`."""

Entry = dict[str, Any]


def taken_over(entries: Sequence[Entry], manager: str) -> list[Entry] | None:
    """Return the entries with the creator's fields moved to `manager`; None if it has none."""
    ours = next((e for e in entries if _is(e, manager, "Apply")), None)
    kept: list[Entry] = []
    fields: Entry = dict(ours["fieldsV1"]) if ours else {}
    taken = False
    for entry in entries:
        if entry is ours:
            continue
        operation = entry["operation"]
        if entry.get("subresource") or not entry["manager"].startswith(
            TAKEN_OVER.get(operation, ())
        ):
            kept.append(entry)
            continue
        # Managers of other resources begin with the creator's name and use Apply; they keep their
        # fields.
        taken = True
        fields = _united(fields, entry["fieldsV1"])
        ours = {**(ours or entry), "manager": manager, "operation": "Apply"}
    if ours is None or not taken:
        return None
    return [*kept, {**ours, "fieldsV1": fields}]


def creates_by_update(entries: Sequence[Entry]) -> bool:
    """Return whether the creator still owns fields."""
    return any(_is(entry, CREATOR, "Update") for entry in entries)


def is_of_others(entries: Sequence[Entry], manager: str, path: Sequence[str]) -> bool:
    """Return whether other managers own a field and `manager` does not."""
    owners = {entry["manager"] == manager for entry in entries if _owns(entry, path)}
    return owners == {False}


def without_ignored(inputs: Entry, found: Entry, manager: str, ignored: Sequence[str]) -> Entry:
    """Return the object to apply: ignored fields keep their value, unless others own them.

    Args:
        inputs: The requested inputs.
        found: The existing object.
        manager: The field manager.
        ignored: Dotted paths of the fields, as in `ignoreChanges`.
    """
    wanted: Any = copy.deepcopy(inputs)
    for path in ignored:
        *way, last = path.split(".")
        new, old = wanted, found
        for key in way:
            new, old = new.get(key, {}), old.get(key, {})
        managed = found["metadata"].get("managedFields") or []
        if is_of_others(managed, manager, [*way, last]):
            new.pop(last, None)
        elif last in old:
            new[last] = old[last]
    return wanted


def _is(entry: Entry, manager: str, operation: str) -> bool:
    return entry["manager"] == manager and entry["operation"] == operation


def _owns(entry: Entry, path: Sequence[str]) -> bool:
    inner = entry.get("fieldsV1", {})
    for key in path:
        if f"f:{key}" not in inner:
            return False
        inner = inner[f"f:{key}"]
    return True


def _united(one: Entry, other: Entry) -> Entry:
    return {key: _united(one.get(key, {}), other.get(key, {})) for key in {**one, **other}}
