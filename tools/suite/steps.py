"""What `./trainyard test` runs, as a list of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.engine.progress import Progress
from tools.suite.parts import (
    CONTRACTS,
    LEFT_OUT,
    LIFE,
    LIVES,
    STYLE,
    TESTS,
    TYPES,
    UNIT,
    Check,
    is_whole,
    names_slow_marker,
)
from tools.suite.programs import ensure_all_programs, ensure_programs_of_lives

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
    unit = [each for each in files if not is_whole(each)]
    if unit:
        spread = side_by_side(processors) if len(unit) > FEW_FILES else ()
        arguments = (*spread, *unit, "-m", UNIT)
        yield Step(name="unit tests", pytest=arguments, can_be_empty=True)
    whole = [each for each in files if is_whole(each) or names_slow_marker(root / each)]
    if whole:
        spread = side_by_side(2 * processors) if len(whole) > 1 else ()
        yield Step(
            name="whole stacks",
            pytest=(*spread, *whole, "-m", f"not {UNIT}"),
            get_programs=ensure_all_programs,
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
