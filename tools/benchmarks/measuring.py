"""Run the sides of a comparison one after the other in every round, and measure them.

Other work on the machine slows both sides of a round, so no value is compared with one of another
run. Processor time includes the processes that a command starts and waits for.
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

# Without stored bytecode, every run compiles it, and the measurement includes the compiler.
NOT_PASSED_ON = frozenset({"PYTHONDONTWRITEBYTECODE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Time and memory of one run."""

    wall_seconds: float
    processor_seconds: float
    """User and system time of the process and of the processes that it started."""
    memory_mib: float
    """Peak memory of the largest of the processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One line of the table: the measured side as a multiple of the reference side."""

    name: str
    of: str
    """The measured side."""
    against: str
    """The reference side."""
    budget: float | None
    """Maximum ratio; None if it is only reported."""
    runs: Mapping[str, Sequence[Spent]]
    """Values of every side by its name, in the order of the rounds."""
    budget_seconds_over: float | None = None
    """Maximum time of the measured side in addition to that of the reference side."""
    budget_memory_mib: float | None = None
    """Maximum memory of the measured side."""

    @property
    def ratio(self) -> float:
        """The ratio of the median wall-clock times, to which the budget applies."""
        return self._median(self.of, _wall) / self._median(self.against, _wall)

    @property
    def processor_ratio(self) -> float:
        """The ratio of processor times, which other work on the machine hardly affects.

        No budget applies to it: it excludes processes without a waiting parent, such as that of a
        policy pack, and the work of an account.
        """
        return self._median(self.of, _processor) / self._median(self.against, _processor)

    @property
    def within_budget(self) -> bool:
        """Whether the ratio and the other values with a budget are within it."""
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
    """Return the values of each side in each round, after a first run that is not counted."""
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
    """Run a command and return its time and memory; its output lines are added to `said`.

    Raises:
        SystemExit: it failed; its output is in the message.
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
        # For this child alone; resource.getrusage adds up all children.
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
    """Call a function that starts processes and waits for them; return their time.

    Their memory is unknown: the operating system reports only that of the largest child so far.
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
