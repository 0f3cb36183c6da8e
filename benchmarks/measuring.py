"""Sides of a comparison, run one after the other in every round, and what that took.

A machine that does other work besides slows both sides of a round; so nothing here is compared with
a number of another run. Processor time counts the processes that a command starts and waits for.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Programs that may not keep their bytecode compile it in every run, and measure the compiler.
NOT_PASSED_ON = frozenset({"PYTHONDONTWRITEBYTECODE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one run took."""

    wall_seconds: float
    processor_seconds: float
    """User and system time of the process and of what it started."""
    memory_mib: float
    """The most that one of the processes held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One line of the table: what a thing takes, as a multiple of what it is measured against."""

    name: str
    of: str
    """The side that is judged."""
    against: str
    """The side that it is a multiple of."""
    budget: float | None
    """The most that the ratio may be; None where it is only looked at."""
    runs: Mapping[str, Sequence[Spent]]
    """Of every side by its name, in the order of the rounds."""
    budget_seconds_over: float | None = None
    """The most time that the one side may take above the other."""
    budget_memory_mib: float | None = None
    """The most memory that the one side may take."""

    @property
    def ratio(self) -> float:
        """What is judged: the ratio of times by the clock, both the medians."""
        return self._median(self.of, _wall) / self._median(self.against, _wall)

    @property
    def processor_ratio(self) -> float:
        """The ratio of processor times, which other work on the machine disturbs little.

        It does not judge: a process that nobody waits for, such as that of a policy pack, is not
        counted, nor is work that an account does.
        """
        return self._median(self.of, _processor) / self._median(self.against, _processor)

    @property
    def within_budget(self) -> bool:
        """Whether the ratio, and what else has a budget, is at most that."""
        over = self._median(self.of, _wall) - self._median(self.against, _wall)
        memory = max(spent.memory_mib for spent in self.runs[self.of])
        return (
            (self.budget is None or self.ratio <= self.budget)
            and (self.budget_seconds_over is None or over <= self.budget_seconds_over)
            and (self.budget_memory_mib is None or memory <= self.budget_memory_mib)
        )

    def _median(self, side: str, of: Callable[[Spent], float]) -> float:
        return statistics.median(map(of, self.runs[side]))

    def as_json(self) -> dict[str, Any]:
        """Return everything that was measured, for programs."""
        return {
            "name": self.name,
            "of": self.of,
            "against": self.against,
            "ratio": round(self.ratio, 3),
            "processor_ratio": round(self.processor_ratio, 3),
            "budget": self.budget,
            "within_budget": self.within_budget,
            "sides": {side: _figures(runs) for side, runs in self.runs.items()},
        }


def _processor(spent: Spent) -> float:
    return spent.processor_seconds


def _wall(spent: Spent) -> float:
    return spent.wall_seconds


def _figures(runs: Sequence[Spent]) -> dict[str, Any]:
    processor = [spent.processor_seconds for spent in runs]
    wall = [spent.wall_seconds for spent in runs]
    return {
        "rounds": len(runs),
        "processor_seconds": {"minimum": min(processor), "median": statistics.median(processor)},
        "wall_seconds": {"minimum": min(wall), "median": statistics.median(wall)},
        "memory_mib": max(spent.memory_mib for spent in runs),
    }


Run = Callable[[], Spent]


def alternate(sides: Mapping[str, Run], rounds: int) -> dict[str, list[Spent]]:
    """Return what each side took in each round, after a first run that is not counted."""
    for run in sides.values():
        run()  # compiles bytecode, and brings files into the memory of the machine
    spent: dict[str, list[Spent]] = {side: [] for side in sides}
    for _ in range(rounds):
        for side, run in sides.items():
            spent[side].append(run())
    return spent


def run_process(
    command: Sequence[str | Path],
    *,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    said: list[str] | None = None,
) -> Spent:
    """Run a command to its end and return what it took; its lines are added to `said`.

    Raises:
        SystemExit: it failed; what it said is in the message.
    """
    given = os.environ if environment is None else environment
    kept = {key: value for key, value in given.items() if key not in NOT_PASSED_ON}
    started = time.perf_counter()
    child = subprocess.Popen(
        command,
        cwd=directory,
        env=kept,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with child:
        text = child.stdout.read() if child.stdout else ""
        # Of this child alone, where resource.getrusage adds up every child there was.
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    wall_seconds = time.perf_counter() - started
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {child.returncode}:\n{text}")
    if said is not None:
        said.extend(text.splitlines())
    return Spent(
        wall_seconds=wall_seconds,
        processor_seconds=usage.ru_utime + usage.ru_stime,
        memory_mib=_mib(usage.ru_maxrss),
    )


def run_call(do: Callable[[], object]) -> Spent:
    """Call what starts processes and waits for them, and return what those took.

    Their memory is not known: the operating system keeps it of the largest child there ever was.
    """
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    do()
    wall_seconds, after = (
        time.perf_counter() - started,
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    processor_seconds = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return Spent(wall_seconds=wall_seconds, processor_seconds=processor_seconds, memory_mib=0.0)


def _mib(maximum_resident: int) -> float:
    # getrusage(2): kibibytes on Linux, bytes on macOS.
    return maximum_resident / (2**20 if sys.platform == "darwin" else 2**10)
