"""Compute the start and end of each step of an `up`, and the longest chain of steps."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tools.benchmarks.stack_graph import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A step with its time."""

    step: Step
    begins: float
    """Seconds from the start of the update."""
    ends: float
    last_wait: str | None
    """URN of the last step that it waited for; None if it waited for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """All steps of an update."""

    timed: Sequence[Timed]
    """In the order of their start."""

    @property
    def seconds(self) -> float:
        """How long the update takes."""
        return max((each.ends for each in self.timed), default=0.0)

    @property
    def critical_path(self) -> list[Timed]:
        """The chain of waits that ends last, from its first step; components are left out."""
        by_urn = {each.step.urn: each for each in self.timed}
        chain: list[Timed] = []
        current = max(self.timed, key=lambda each: each.ends, default=None)
        while current is not None:
            chain.append(current)
            current = by_urn.get(current.last_wait or "")
        return [each for each in reversed(chain) if each.step.seconds]


def schedule(steps: Iterable[Step], *, parallel: int | None = None) -> Schedule:
    """Return the times of the steps; each starts as soon as its dependencies are done.

    `parallel` limits the number of concurrent steps; waiting steps start in the order of their
    registration. Steps without a duration do not count towards the limit.

    Raises:
        ValueError: the dependencies of the steps form a cycle.
    """
    return _Scheduler(list(steps), parallel).run()


class _Scheduler:
    def __init__(self, steps: Sequence[Step], parallel: int | None) -> None:
        self._steps = {step.urn: step for step in steps}
        self._order = {step.urn: index for index, step in enumerate(steps)}
        self._places = parallel or len(steps) or 1
        self._waits = {step.urn: self._needed(step) for step in steps}
        self._done: dict[str, Timed] = {}
        self._under_way: list[tuple[float, int, str]] = []
        self._begun: dict[str, tuple[float, str | None]] = {}

    def _needed(self, step: Step) -> set[str]:
        return {urn for urn in step.waits_for | step.ends_with if urn in self._steps}

    def run(self) -> Schedule:
        now, ready = 0.0, self._ready(set(self._steps))
        while ready or self._under_way:
            ready = self._begin(ready, now)
            if self._under_way:
                now, _, urn = heapq.heappop(self._under_way)
                ready += self._end(urn, now)
        if len(self._done) < len(self._steps):
            left = sorted(set(self._steps) - set(self._done))
            raise ValueError(f"these wait for one another: {', '.join(left)}")
        timed = sorted(self._done.values(), key=lambda each: (each.begins, each.ends))
        return Schedule(timed=timed)

    def _ready(self, candidates: set[str]) -> list[str]:
        return [urn for urn in candidates if not self._waits[urn]]

    def _begin(self, ready: list[str], now: float) -> list[str]:
        """Start as many steps as the limit allows and return the rest."""
        waiting: list[str] = []
        for urn in sorted(ready, key=self._order.__getitem__):
            seconds = self._steps[urn].seconds
            if seconds and self._places == 0:
                waiting.append(urn)
                continue
            self._places -= bool(seconds)
            self._begun[urn] = (now, self._last_of(urn))
            heapq.heappush(self._under_way, (now + seconds, self._order[urn], urn))
        return waiting

    def _last_of(self, urn: str) -> str | None:
        ended = [self._done[other] for other in self._needed(self._steps[urn])]
        # If several end together, the one with a duration; a component only waits for others.
        last = max(ended, key=lambda each: (each.ends, each.step.seconds), default=None)
        return last.step.urn if last else None

    def _end(self, urn: str, now: float) -> list[str]:
        """Record the end of a step and return the steps that can start now."""
        begins, last_wait = self._begun[urn]
        step = self._steps[urn]
        self._places += bool(step.seconds)
        self._done[urn] = Timed(step=step, begins=begins, ends=now, last_wait=last_wait)
        followers = [other for other, waits in self._waits.items() if urn in waits]
        for other in followers:
            self._waits[other].discard(urn)
        return self._ready(set(followers))
