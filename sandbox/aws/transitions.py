"""Creations, changes and deletions in progress, when they take as long as in AWS.

An object has its transitional status (`CREATING`, `pending`, …) from the call that starts the
operation until AWS would complete it, according to `sandbox/latency/latencies.yaml` and the scale
of `sandbox start --latency`. Without a scale, operations complete within the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.latency.model import WITH_STATUS, Operation, latency_model


@dataclass(frozen=True, slots=True)
class _Pending:
    due: datetime
    end: Callable[[], object]


class Transitions:
    """Completes operations when they are due; used with the application's lock held.

    Attributes:
        scale: Share of AWS's time that the account takes; 0 for no delay.
    """

    def __init__(self) -> None:
        self.scale = 0.0
        self._pending: list[_Pending] = []

    def begin(
        self,
        type_: str,
        operation: Operation,
        end: Callable[[], object],
        *,
        inputs: Mapping[str, Any] | None = None,
        since: datetime | None = None,
    ) -> None:
        """Call `end` when AWS would complete the operation, at once if that is not in the future.

        Args:
            type_: Pulumi's type token, the key in the latency model.
            operation: The operation on the object.
            end: Sets the object's final status, or removes it.
            inputs: Inputs of the resource that the latency depends on.
            since: Start of the operation, if in the past.
        """
        due = self.due(type_, operation, inputs=inputs, since=since)
        if due <= CLOCK.now():
            end()
        else:
            self._pending.append(_Pending(due, end))

    def due(
        self,
        type_: str,
        operation: Operation,
        *,
        inputs: Mapping[str, Any] | None = None,
        since: datetime | None = None,
    ) -> datetime:
        """Return when AWS would complete it; the arguments are those of `begin`.

        Raises:
            ValueError: AWS has no transitional status for the type.
        """
        if type_ not in WITH_STATUS:
            raise ValueError(
                f"{type_} is not among the types of trainyard.sandbox.latency.model.WITH_STATUS"
            )
        seconds = latency_model().seconds(type_, inputs or {}, operation) * self.scale
        return (since or CLOCK.now()) + timedelta(seconds=seconds)

    def end_due(self) -> None:
        """Complete what is due by the account's clock, in order of time."""
        now = CLOCK.now()
        due = sorted((each for each in self._pending if each.due <= now), key=lambda e: e.due)
        self._pending = [each for each in self._pending if each.due > now]
        for each in due:
            each.end()

    def reset(self) -> None:
        """Delete all pending operations and the scale, because the account is deleted."""
        self._pending.clear()
        self.scale = 0.0


TRANSITIONS = Transitions()
"""The operations of this process, which has one account."""
