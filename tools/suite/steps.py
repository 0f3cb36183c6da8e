"""What `./trainyard test` runs, as a list of steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tools.docs.building import docs_python
from tools.programs.alert_evaluator import ensure_alert_evaluator
from tools.programs.chromium import ensure_chromium
from tools.programs.pytorch import examples_python, old_examples_python
from tools.suite.parts import (
    CONTRACTS,
    LEFT_OUT,
    LIFE,
    LIVES,
    STYLE,
    TESTS,
    TYPES,
    UNIT,
    UNMARKED,
    Check,
    is_whole,
    slow_markers,
)
from trainyard.components.catalog.kueue import CONTROLLER_RELEASES
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.engine import ensure_controller, ensure_kubernetes, ensure_plugins
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python
from trainyard.sandbox.engine.progress import Progress
from trainyard.sandbox.engine.slurm import ensure_slurm, slurm_is_packaged

MAXIMUM_PROCESSES = 4
FEW_FILES = 3
"""Files of unit tests that take less time than additional processes need to start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Tests and checks that run at the same time."""

    name: str
    pytest: tuple[str, ...] = ()
    """Arguments of pytest; empty without tests."""
    checks: tuple[Check, ...] = ()
    get_programs: Callable[[Progress], None] | None = None
    """Installs what the tests need, before them."""
    can_be_empty: bool = False
    """Whether pytest may find no test: the file of a selection can have tests of one kind only."""


def quick(processors: int) -> list[Step]:
    """Return the steps of the quick answer: all but the directories of `LEFT_OUT`."""
    return [_first(processors), lives(processors)]


def everything(processors: int) -> list[Step]:
    """Return the steps of the whole suite.

    What needs no additional program comes first, so that its result is there before the engine and
    the plugins are built.
    """
    # An `up` spends half of its time waiting for the account, the cluster and its own parts.
    arguments = (*side_by_side(2 * processors), "-m", f"not {UNIT}")
    whole = Step(name="whole stacks", pytest=arguments, get_programs=ensure_all_programs)
    return [_first(processors), whole]


def _first(processors: int) -> Step:
    return Step(
        name="style, types, contracts and unit tests",
        checks=(*STYLE, *TYPES, *CONTRACTS),
        pytest=_unit(processors),
    )


def _unit(processors: int) -> tuple[str, ...]:
    others = (f"--ignore={TESTS}/{directory}" for directory in LEFT_OUT)
    return (*side_by_side(processors), *others, "-m", UNIT)


def lives(processors: int) -> Step:
    """Return the step of a short life of each architecture."""
    return Step(
        name="a life of EKS, Slurm and Batch",
        pytest=(*side_by_side(processors), LIVES, "-m", LIFE),
        get_programs=ensure_programs_of_lives,
    )


def of_files(files: Sequence[str], processors: int, root: Path) -> Iterator[Step]:
    """Yield the steps that run test files: first the tests without additional programs.

    Args:
        files: Paths below the root.
        processors: Of this machine.
        root: Of the repository.
    """
    markers = {each: slow_markers(root / each) for each in files}
    # Files of whole stacks with a marker may have tests without one that share its fixtures.
    unmarked = [each for each in files if not (is_whole(each) and markers[each])]
    if unmarked:
        spread = side_by_side(processors) if len(unmarked) > FEW_FILES else ()
        arguments = (*spread, *unmarked, "-m", UNMARKED)
        yield Step(name="tests without programs", pytest=arguments, can_be_empty=True)
    marked = [each for each in files if markers[each]]
    if marked:
        # Each process imports everything: one without a file of its own costs more than it saves.
        spread = side_by_side(min(2 * processors, len(marked))) if len(marked) > 1 else ()
        needed = frozenset[str]().union(*markers.values())
        yield Step(
            name="tests with programs",
            pytest=(*spread, *marked, "-m", f"not {UNIT}"),
            get_programs=partial(ensure_programs, needed),
            can_be_empty=True,
        )


def parts(processors: int) -> Mapping[str, Step]:
    """Return the steps that have a name of their own on the command line."""
    return {
        "style": Step(name="style", checks=STYLE),
        "types": Step(name="types", checks=TYPES),
        "contracts": Step(
            name="contracts", checks=CONTRACTS, pytest=(f"{TESTS}/contract", "-m", UNIT)
        ),
        "unit": Step(name="unit tests", pytest=_unit(processors)),
        "lives": lives(processors),
    }


def side_by_side(processes: int) -> tuple[str, ...]:
    """Return the arguments that spread groups of tests over processes.

    A group stays in one process, because its tests share a stack that is deployed once.
    `tests/conftest.py` defines the groups and sorts them, the slowest first. Every process can run
    a sandbox, so there are at most four.
    """
    count = str(min(MAXIMUM_PROCESSES, processes))
    return ("-n", count, "--dist", "loadscope", "--no-loadscope-reorder")


def ensure_programs_of_lives(report: Progress) -> None:
    """Get what a life of a stack in the sandbox needs.

    Raises:
        EngineError: a program cannot be had.
    """
    _ensure_engine(report)
    ensure_kubernetes(report)
    parallelcluster_python(report)


def ensure_all_programs(report: Progress) -> None:
    """Get what any test needs.

    Raises:
        EngineError: a program cannot be had.
    """
    ensure_programs(PROGRAMS, report)
    examples_python(report)
    old_examples_python(report)


def ensure_programs(markers: Collection[str], report: Progress) -> None:
    """Get what tests with these markers need.

    Raises:
        EngineError: a program cannot be had.
    """
    needed = [ensure for marker in PROGRAMS if marker in markers for ensure in PROGRAMS[marker]]
    for ensure in dict.fromkeys(needed):
        ensure(report)


def _ensure_engine(report: Progress) -> None:
    ensure_plugins(report, ensure_pulumi(report).executable)


def _ensure_controllers(report: Progress) -> None:
    for name in CONTROLLER_RELEASES:
        ensure_controller(name, report)


def _ensure_packaged_slurm(report: Progress) -> None:
    if slurm_is_packaged():
        ensure_slurm(report)


_OF_SANDBOX = (ensure_programs_of_lives, _ensure_controllers, _ensure_packaged_slurm)
PROGRAMS: Mapping[str, tuple[Callable[[Progress], object], ...]] = {
    "first": _OF_SANDBOX,
    "sandbox": _OF_SANDBOX,
    "parallelcluster": (parallelcluster_python,),
    "engine": (_ensure_engine, ensure_alert_evaluator, _ensure_packaged_slurm),
    "kubernetes": (ensure_kubernetes, _ensure_controllers),
    "browser": (ensure_chromium, docs_python),
}
"""What gets the programs of the tests with each marker.

A test that runs on its own gets them in its fixtures: here they are there before several processes
wait for them. The tests of `examples` need PyTorch and have no marker."""
