"""Measure how time and memory grow with node pools, nodes per pool, and stacks per check.

Every point is a separate process with its own memory. The cost of Python and the imports is the
same in every point.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tools.benchmarks.measuring import Comparison, Run, Spent, alternate, run_process
from tools.repository import ROOT
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_config import plan_of
from trainyard.stack_files.stack_files import CLUSTER_KEY, StackFile, find_stack_file, stack_names

STACK = "eks-g4dn-vpc"
BUDGET_OF_POOLS = 11.0
MEMORY_BUDGET_MIB = 300
POOLS = (1, 3, 10, 30, 100)
NODES = (1, 10, 100, 1000)
STACKS = (1, 5, 15, 50)


def with_pools(pools: int, *, nodes: int = 2) -> StackFile:
    """Return the stack with this number of node groups, each with this number of nodes.

    It uses an existing network, whose free addresses only the account knows.
    """
    stack_file = _stack_file()
    cluster: dict[str, Any] = json.loads(json.dumps(stack_file.cluster))
    groups = cluster["architecture"]["node_groups"]
    (_, pool) = groups.popitem()
    pool |= {"minimum": 0, "desired": nodes, "maximum": nodes}
    groups.update({f"pool-{index}": pool for index in range(pools)})
    content = {"config": {**stack_file.config, CLUSTER_KEY: cluster}}
    return StackFile(STACK, stack_file.path, content)


def _stack_file() -> StackFile:
    return completed(find_stack_file(STACK), sandbox_completion(find_stack_file(STACK)))


def planning_seconds(stack_file: StackFile) -> float:
    """Return the processor time of one plan, starting from the parsed file, without imports."""
    plan_of(_stack_file())  # imports, and reads the catalog
    started = time.process_time()
    plan_of(stack_file)
    return time.process_time() - started


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Time and memory at each size."""

    name: str
    unit: str
    """The counted objects, such as `node pools`."""
    seconds: Mapping[int, float]
    """Median processor time by size."""
    memory_mib: Mapping[int, float]
    """Maximum of all runs, by size."""

    def as_json(self) -> dict[str, Any]:
        """Return the curve, for programs."""
        return {
            "name": self.name,
            "unit": self.unit,
            "points": [
                {"size": size, "seconds": seconds, "memory_mib": self.memory_mib[size]}
                for size, seconds in self.seconds.items()
            ],
        }


def measure(rounds: int) -> list[Comparison]:
    """Return the table line: the plan of 100 node pools relative to that of 10."""
    runs = alternate({_pools_name(n): _planned(n) for n in (10, 100)}, rounds)
    of, against = _pools_name(100), _pools_name(10)
    return [
        Comparison(
            name="pools",
            of=of,
            against=against,
            budget=BUDGET_OF_POOLS,
            budget_memory_mib=MEMORY_BUDGET_MIB,
            runs=runs,
        )
    ]


def curves(
    rounds: int,
    *,
    pools: tuple[int, ...] = POOLS,
    nodes: tuple[int, ...] = NODES,
    stacks: tuple[int, ...] = STACKS,
) -> list[Curve]:
    """Return the three curves."""
    return [
        _curve("plan, by node pools", "node pools", pools, _planned, rounds),
        _curve("plan, by nodes of a pool", "nodes", nodes, lambda n: _planned(1, nodes=n), rounds),
        _curve("check, by stacks", "stacks", stacks, _checked, rounds),
    ]


def _pools_name(pools: int) -> str:
    return f"plan of {pools} node pools"


def _curve(
    name: str, unit: str, sizes: tuple[int, ...], run_of: Callable[[int], Run], rounds: int
) -> Curve:
    runs = alternate({str(size): run_of(size) for size in sizes}, rounds)
    return Curve(
        name=name,
        unit=unit,
        seconds={n: statistics.median(s.processor_seconds for s in runs[str(n)]) for n in sizes},
        memory_mib={n: max(s.memory_mib for s in runs[str(n)]) for n in sizes},
    )


def _planned(pools: int, *, nodes: int = 2) -> Run:
    def run() -> Spent:
        return _only_planning(
            [sys.executable, "-m", "tools.benchmarks.growth", str(pools), str(nodes)]
        )

    return run


def _only_planning(command: list[str]) -> Spent:
    """Run a process that prints the time of its plan; return that time and the memory in total."""
    said: list[str] = []
    spent = run_process(command, directory=ROOT, said=said)
    seconds = float(said[-1])
    return Spent(wall_seconds=seconds, processor_seconds=seconds, memory_mib=spent.memory_mib)


def _checked(stacks: int) -> Run:
    names = stack_names()
    named = [names[index % len(names)] for index in range(stacks)]
    return lambda: run_process([ROOT / "trainyard", "check", "--sandbox", *named])


if __name__ == "__main__":
    sys.stdout.write(f"{planning_seconds(with_pools(int(sys.argv[1]), nodes=int(sys.argv[2])))}\n")
