"""The planned step for each resource, from the events of a preview.

Source: https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/apitype/events.go,
`ResourcePreEvent` and `StepEventMetadata`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trainyard.workspace.urns import name_of

Operation = Literal["same", "update", "create", "delete", "replace"]

_OPERATIONS: Mapping[str, Operation] = {
    "same": "same",
    "update": "update",
    "create": "create",
    "import": "create",
    "delete": "delete",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
}
"""By the engine's operation name; operations on resources of other stacks are not steps.

https://github.com/pulumi/pulumi/blob/v3.260.0/pkg/resource/deploy/step.go
"""
_WEIGHT: tuple[Operation, ...] = ("same", "update", "create", "delete", "replace")
"""A replaced resource has several steps; the last one in this order is its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """The planned operation on a resource."""

    operation: Operation
    urn: str
    type: str
    identifier: str = ""
    """Id of the existing object; empty if there is none."""
    old: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Inputs of the existing object."""
    new: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Inputs of the new state."""
    changed: tuple[str, ...] = ()
    """Paths of the changed properties in the provider's diff: `scalingConfig.desiredSize`.

    After a refresh, more inputs differ, because AWS has filled in defaults.
    """
    reasons: tuple[str, ...] = ()
    """Properties whose change replaces the object."""
    retained: bool = False
    """Whether the object is kept when it leaves the stack (`retain_on_delete`)."""
    parent: str = ""
    """URN of the parent in the new state; for a deletion, in the old one."""
    provider: str = ""
    """Reference to its provider: URN, `::` and id."""

    @property
    def name(self) -> str:
        """Logical name."""
        return name_of(self.urn)

    @property
    def changed_properties(self) -> tuple[str, ...]:
        """Names of the changed properties, sorted."""
        return tuple(sorted({re.split(r"[.\[]", path)[0] for path in self.changed}))


def is_end_of_run(line: str) -> bool:
    """Return whether a line of the event log ends a preview or an update."""
    return '"cancelEvent"' in line[:200]


def steps_of_events(lines: Iterable[str]) -> tuple[PlannedStep, ...]:
    """Return one step per resource, in the engine's order, from the event log of a preview."""
    found: dict[str, PlannedStep] = {}
    for line in lines:
        if '"resourcePreEvent"' not in line[:200]:
            continue
        step = _step(json.loads(line)["resourcePreEvent"]["metadata"])
        if step is None:
            continue
        known = found.get(step.urn)
        found[step.urn] = step if known is None else _joined(known, step)
    return tuple(found.values())


def _step(metadata: Mapping[str, Any]) -> PlannedStep | None:
    operation = _OPERATIONS.get(metadata["op"])
    if operation is None:
        return None
    old, new = metadata.get("old") or {}, metadata.get("new") or {}
    return PlannedStep(
        operation=operation,
        urn=metadata["urn"],
        type=metadata["type"],
        identifier=old.get("id", ""),
        old=old.get("inputs") or {},
        new=new.get("inputs") or {},
        changed=tuple(metadata.get("detailedDiff") or metadata.get("diffs") or ()),
        reasons=_reasons(metadata),
        retained=bool(old.get("retainOnDelete")),
        parent=(new or old).get("parent", ""),
        provider=new.get("provider", ""),
    )


def _reasons(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    detailed = metadata.get("detailedDiff") or {}
    replacing = (
        key for key, diff in detailed.items() if diff.get("diffKind", "").endswith("-replace")
    )
    return tuple(sorted({*(metadata.get("keys") or ()), *replacing}))


def _joined(one: PlannedStep, other: PlannedStep) -> PlannedStep:
    heavier = max(one, other, key=lambda step: _WEIGHT.index(step.operation))
    return PlannedStep(
        operation=heavier.operation,
        urn=one.urn,
        type=one.type,
        identifier=one.identifier or other.identifier,
        old=one.old or other.old,
        new=one.new or other.new,
        changed=one.changed or other.changed,
        reasons=tuple(sorted({*one.reasons, *other.reasons})),
        retained=one.retained or other.retained,
        parent=one.parent or other.parent,
        provider=one.provider or other.provider,
    )
