"""Resources as the engine manages them: the provider calls, and their arguments.

Source: `pkg/resource/deploy/step_generator.go` and `step.go` of https://github.com/pulumi/pulumi
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tools.conformance.kubernetes.plugin import Plugin, RefusedError, Values

STATE, CHECKED = "<state>", "<checked>"
"""Placeholders for the outputs in the state, and for the result of the last Check."""
SOME = "DIFF_SOME"


@dataclass(slots=True)
class Kept:
    """A resource in the state."""

    id: str
    inputs: Values
    outputs: Values
    unfinished: bool = False
    """Whether the provider reported it as incomplete; the next `up` updates it."""


@dataclass(slots=True)
class Stack:
    """The resources of a provider; a rejected call is recorded and ends the operation."""

    plugin: Plugin
    resources: dict[str, Kept] = field(default_factory=dict[str, Kept])
    """By URN."""
    _seeds: Iterator[int] = field(default_factory=itertools.count)

    def seed(self) -> bytes:
        """Return the random seed for names; every registration has a different one."""
        return next(self._seeds).to_bytes(32)

    def up(
        self,
        token: str,
        inputs: Values,
        name: str = "it",
        *,
        preview: bool = False,
        ignore_changes: Sequence[str] = (),
        timeout_seconds: float = 0,
    ) -> bool:
        """Register a resource as a program does; return whether the provider reported no error."""
        up = _Up(self, urn_of(token, name), preview, list(ignore_changes), timeout_seconds)
        return _unless_refused(lambda: up.run(inputs))

    def refresh(self, token: str) -> bool:
        """Refresh a resource in the state; remove it if it no longer exists."""
        return _unless_refused(lambda: self._read(urn_of(token)))

    def import_(self, token: str, identifier: str, name: str = "it") -> bool:
        """Import an object that is not in the state."""
        urn = urn_of(token, name)
        self.resources[urn] = Kept(identifier, {}, {})
        return _unless_refused(lambda: self._read(urn))

    def take_up(self, token: str, identifier: str, inputs: Values) -> bool:
        """Read an object whose create got no response, as the launcher does."""
        urn = urn_of(token)
        self.resources[urn] = Kept(identifier, inputs, inputs)
        return _unless_refused(lambda: self._read(urn))

    def destroy(self, token: str) -> bool:
        """Delete a resource; if the provider rejects that, it stays in the state."""
        return _unless_refused(lambda: self.delete(urn_of(token)))

    def delete(self, urn: str) -> None:
        """Delete a resource and remove it from the state, if it is there.

        Raises:
            RefusedError: the provider rejects the deletion.
        """
        kept = self.resources.get(urn)
        if kept is None:
            return
        request: Values = {"id": kept.id, "urn": urn, **_named(urn)}
        request |= {"properties": kept.outputs, "old_inputs": kept.inputs}
        shown = {"properties": STATE, "old_inputs": STATE}
        try:
            self.plugin.call("Delete", request, shown)
        except RefusedError as refused:
            self.keep(urn, kept.inputs, refused)
            raise
        del self.resources[urn]

    def keep(self, urn: str, inputs: Values, refused: RefusedError) -> None:
        """Keep the object that exists according to the provider's error."""
        if refused.kept is not None:
            found = refused.kept
            inputs = found.get("inputs") or inputs
            self.resources[urn] = Kept(found["id"], inputs, found["properties"], unfinished=True)

    def _read(self, urn: str) -> None:
        kept = self.resources.get(urn)
        if kept is None:
            return
        request: Values = {"id": kept.id, "urn": urn, **_named(urn)}
        request |= {"properties": kept.outputs, "inputs": kept.inputs}
        shown = {key: STATE for key in ("properties", "inputs") if request[key]}
        try:
            answer = self.plugin.call("Read", request, shown)
        except RefusedError as refused:
            self.keep(urn, kept.inputs, refused)
            raise
        if answer.get("id"):
            inputs = answer.get("inputs") or kept.inputs
            self.resources[urn] = Kept(answer["id"], inputs, answer["properties"])
        else:
            del self.resources[urn]


@dataclass(frozen=True, slots=True)
class _Up:
    """A registration."""

    stack: Stack
    urn: str
    preview: bool
    ignore_changes: list[str]
    timeout_seconds: float

    def run(self, inputs: Values) -> None:
        kept = self.stack.resources.get(self.urn)
        if kept is not None:
            inputs = _ignoring(inputs, kept.inputs, self.ignore_changes)
        checked = self._check(inputs, kept.inputs if kept else {})
        if checked is None:
            return
        if kept is None:
            self._create(checked)
            return
        difference = self._diff(kept, checked)
        if difference.get("replaces"):
            self._replace(inputs, deletes_first=difference.get("deleteBeforeReplace", False))
        elif difference.get("changes") == SOME or kept.unfinished:
            self._update(kept, checked)

    def _check(self, inputs: Values, olds: Values) -> Values | None:
        request: Values = {"urn": self.urn, "news": inputs, "olds": olds, **_named(self.urn)}
        shown = {"olds": STATE} if olds else None
        answer = self.stack.plugin.call(
            "Check", {**request, "randomSeed": self.stack.seed()}, shown
        )
        return None if answer.get("failures") else answer["inputs"]

    def _diff(self, kept: Kept, checked: Values) -> Values:
        request: Values = {"id": kept.id, "urn": self.urn, "olds": kept.outputs, "news": checked}
        request |= {"old_inputs": kept.inputs, **_named(self.urn)}
        if self.ignore_changes:
            request["ignoreChanges"] = self.ignore_changes
        shown = {"olds": STATE, "old_inputs": STATE, "news": CHECKED}
        return self.stack.plugin.call("Diff", request, shown)

    def _create(self, checked: Values) -> None:
        request: Values = {"urn": self.urn, "properties": checked, "preview": self.preview}
        request |= {"timeout": self.timeout_seconds, **_named(self.urn)}
        try:
            answer = self.stack.plugin.call("Create", request, {"properties": CHECKED})
        except RefusedError as refused:
            self.stack.keep(self.urn, checked, refused)
            raise
        if not self.preview:
            self.stack.resources[self.urn] = Kept(answer["id"], checked, answer["properties"])

    def _update(self, kept: Kept, checked: Values) -> None:
        request: Values = {"id": kept.id, "urn": self.urn, "olds": kept.outputs, "news": checked}
        request |= {"old_inputs": kept.inputs, "preview": self.preview, **_named(self.urn)}
        request |= {"timeout": self.timeout_seconds, "ignoreChanges": self.ignore_changes}
        shown = {"olds": STATE, "old_inputs": STATE, "news": CHECKED}
        try:
            answer = self.stack.plugin.call("Update", request, shown)
        except RefusedError as refused:
            self.stack.keep(self.urn, checked, refused)
            raise
        if not self.preview:
            self.stack.resources[self.urn] = Kept(kept.id, checked, answer["properties"])

    def _replace(self, inputs: Values, *, deletes_first: bool) -> None:
        old = self.stack.resources[self.urn]
        if deletes_first and not self.preview:
            self.stack.delete(self.urn)
        # Without the old inputs, because the new object may get another generated name.
        checked = self._check(inputs, {})
        if checked is None:
            return
        self._create(checked)
        if not deletes_first and not self.preview:
            new = self.stack.resources.pop(self.urn)
            self.stack.resources[self.urn] = old
            self.stack.delete(self.urn)
            self.stack.resources[self.urn] = new


def _ignoring(inputs: Values, olds: Values, paths: Sequence[str]) -> Values:
    """Return the inputs with the old values at the dotted paths, as `ignoreChanges` does."""
    found = copy.deepcopy(inputs)
    for path in paths:
        *way, last = path.split(".")
        new, old = found, olds
        for key in way:
            new, old = new[key], old[key]
        new[last] = old[last]
    return found


def urn_of(token: str, name: str = "it") -> str:
    """Return the URN of a top-level resource in the recorded stack."""
    return f"urn:pulumi:recording::trainyard::{token}::{name}"


def _named(urn: str) -> Values:
    _, _, token, name = urn.split("::", 3)
    return {"name": name, "type": token}


def _unless_refused(do: Callable[[], object]) -> bool:
    try:
        do()
    except RefusedError:
        return False
    return True
