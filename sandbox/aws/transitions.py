"""What the account is still making, changing or deleting, when it takes as long as AWS does.

An object has its transitional status (`CREATING`, `pending`, …) from the call that begins the work
until AWS would be done with it, by `sandbox/latency/latencies.yaml` and the scale of
`sandbox start --latency`. Without a scale it is done within the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sandbox.aws.clock import CLOCK
from sandbox.latency.model import WITH_STATUS, Operation, latency_model


@dataclass(frozen=True, slots=True)
class _Pending:
    due: datetime
    end: Callable[[], object]


class Transitions:
    """Ends what was begun when its time has come; used with the application's lock held.

    Attributes:
        scale: Share of AWS's time that the account takes; 0: it takes none.
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
        """Call `end` when AWS would be done, at once where that is not in the future.

        Args:
            type_: Pulumi's type token, by which the model knows what AWS takes.
            operation: What is done with the object.
            end: Gives the object its final status, or removes it.
            inputs: Inputs of the resource by which the model tells latencies apart.
            since: When the work began, where that was before now.
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
        """Return when AWS would be done; the arguments are those of `begin`.

        Raises:
            ValueError: AWS shows no status of the type while it works.
        """
        if type_ not in WITH_STATUS:
            raise ValueError(f"{type_} is not among the types of sandbox.latency.model.WITH_STATUS")
        seconds = latency_model().seconds(type_, inputs or {}, operation) * self.scale
        return (since or CLOCK.now()) + timedelta(seconds=seconds)

    def end_due(self) -> None:
        """End what is due by the account's clock, in the order of time."""
        now = CLOCK.now()
        due = sorted((each for each in self._pending if each.due <= now), key=lambda e: e.due)
        self._pending = [each for each in self._pending if each.due > now]
        for each in due:
            each.end()

    def reset(self) -> None:
        """Forget everything that is pending, and the scale: the account is thrown away."""
        self._pending.clear()
        self.scale = 0.0


TRANSITIONS = Transitions()
"""Those of this process; there is one account in a process."""
