"""What `./trainyard test` runs: the parts of the suite, their steps, and what a change breaks."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path, PurePosixPath

from tools.docs.building import docs_python
from tools.programs.alert_evaluator import ensure_alert_evaluator
from tools.programs.chromium import ensure_chromium
from tools.programs.pytorch import examples_python, old_examples_python
from tools.repository import repository_files
from trainyard.components.catalog.kueue import CONTROLLER_RELEASES
from trainyard.engine.pulumi_engine import ensure_pulumi
from trainyard.sandbox.engine import ensure_controller, ensure_kubernetes, ensure_plugins
from trainyard.sandbox.engine.parallelcluster_environment import parallelcluster_python
from trainyard.sandbox.engine.progress import Progress
from trainyard.sandbox.engine.slurm import ensure_slurm, slurm_is_packaged

TESTS = "tests"
UNIT = "unit"
"""Marker of the tests that need no additional program; `tests/conftest.py` sets it."""
LIFE = "life"
"""Marker of one short life of a stack of each architecture: up and destroyed."""
LIVES = "tests/stacks/test_lives_of_the_family.py"
"""The file with the tests that have the marker `LIFE`."""
LEFT_OUT: Mapping[str, str] = {
    "changes": "the update that each key of each stack file causes: minutes of processor time",
    "corpus": "known misconfigurations, through every stage up to the emulated account",
    "documentation": "the site, which needs Sphinx and Chromium",
    "examples": "training programs, which need PyTorch",
    "faults": "failing calls, killed processes, and what is left behind",
    "sandbox": "the emulated account itself, and its programs",
    "stacks": "all other lives of whole stacks",
}
"""Directories of tests that run the emulated account, a plugin or every stack, and what they prove.

`./trainyard test` leaves them out, except for `LIVES`."""
SLOWEST_FIRST = ("first", "sandbox", "parallelcluster", "engine", "kubernetes", "browser")
"""Markers of tests that take minutes, a minute, and seconds."""
UNMARKED = f"not ({' or '.join(SLOWEST_FIRST)})"
"""Expression for the tests that have none of these markers: more than the unit tests."""
_SLOW = re.compile(rf"\bmark\.({'|'.join(SLOWEST_FIRST)})\b")


@dataclass(frozen=True, slots=True)
class Check:
    """A static check: a program of the locked environment that reads the whole repository."""

    name: str
    command: tuple[str, ...]


STYLE = (
    Check("ruff check", ("ruff", "check", ".")),
    Check("ruff format", ("ruff", "format", "--check", ".")),
)
TYPES = (Check("types", ("basedpyright",)),)
CONTRACTS = (Check("import contracts", ("lint-imports",)),)


def is_whole(path: str | PurePosixPath) -> bool:
    """Return whether a test file, by its path below the root, lies in a directory of `LEFT_OUT`."""
    return PurePosixPath(path).parts[1] in LEFT_OUT


@functools.cache
def slow_markers(file: Path) -> frozenset[str]:
    """Return the markers of tests that need an additional program, which a test file names."""
    return frozenset(_SLOW.findall(file.read_text(encoding="utf-8")))


# The test files that a change can have broken, by what they import and read.
#
# `ruff analyze graph` reads the imports, also those that strings name, such as `python -m
# trainyard`. No plugin of pytest fits: pytest-testmon needs a recorded run and does not see the
# processes that whole stacks start, and none knows files that are not Python. What imports do not
# show is added here: packages that a registry names, names that are composed, the fixtures of a
# folder, programs that are started by their path, and data files.


STARTED_BY_PATH: Mapping[str, tuple[str, ...]] = {
    "tests/support/sandbox.py": (
        *("__main__.py", "policies/__main__.py", "src/trainyard/__main__.py", "trainyard_state.py"),
    ),
    "tests/support/policy_pack.py": ("policies/__main__.py",),
    "tests/support/parallelcluster_validators.py": ("sandbox/parallelcluster/validation.py",),
    "tests/stacks/test_program.py": ("__main__.py",),
    "tests/stacks/test_foreign_program.py": ("policies/__main__.py",),
    "tests/test_trainyard.py": ("tools/environment.py",),
}
"""Programs that a file starts by their path."""
NAMED_IN_A_TABLE = ("src/trainyard/cli/command_line.py", "src/trainyard/commands/")
"""A file that imports the modules of a folder by their names in a table, and the folder."""
ALWAYS = "tests/contract/"
"""Folder whose tests read every file of the repository."""
CHANGES_EVERYTHING = (
    "pyproject.toml",
    "requirements.txt",
    "requirements/*.txt",
    "tests/conftest.py",
    "tests/support/warm_python/*.py",
)
"""Files on which every test depends."""
FOUND_BY_FOLDER = "policies/pack/discovery.py"
"""Imports every policy rule. No rule depends on another, and its own tests run it, also in the
pack's process: a change of a rule does not select every test that deploys a stack."""
RUN_EVERY_RULE = "tests/policies/test_*.py"
"""Tests of the whole pack. Those without additional programs depend on every policy rule, and so
does each test elsewhere, except for whole stacks, that names the rule."""
_PACKAGE = re.compile(r"[\"']([a-z_]\w*(?:\.[a-z_]\w*)+)[\"']")
_COMPOSED = re.compile(r"import_module\(\s*f\"([a-z_]\w*\.[^\"]+)\"")
_INSERTED = re.compile(r"\{.+?\}")
_LINK = re.compile(r"^src/trainyard/(?=(components|policies|sandbox)/)")
_RULE_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")


@dataclass(frozen=True, slots=True)
class Selection:
    """Test files, and why these."""

    files: tuple[str, ...]
    """Sorted paths below the root of the repository."""
    everything_because_of: str = ""
    """The changed file because of which all tests are selected."""


def changed_since(revision: str, root: Path) -> list[str]:
    """Return the files that differ from a revision, also those that git does not track yet.

    Raises:
        subprocess.CalledProcessError: git knows no such revision; `stderr` says so.
    """
    tracked = ("diff", "--name-only", "--no-renames", "-z", revision, "--")
    untracked = ("ls-files", "--others", "--exclude-standard", "-z")
    return sorted({path for command in (tracked, untracked) for path in _git(root, *command)})


def _git(root: Path, *arguments: str) -> list[str]:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [path for path in done.stdout.split("\0") if path]


class Repository:
    """The files of a repository, by their paths below its root, and what depends on what."""

    def __init__(self, root: Path) -> None:
        """Read the names of the files that git tracks or would add."""
        self._root = root
        self._files = repository_files(root)
        self.tests = tuple(
            path
            for path in self._files
            if path.startswith("tests/") and PurePosixPath(path).match("test_*.py")
        )
        """Sorted paths of all test files."""

    def selected(self, changed: Sequence[str]) -> Selection:
        """Return the tests that changes of these files can have broken."""
        if not changed:
            return Selection(())
        sources: set[str] = set()
        tests = {path for path in self.tests if path.startswith(ALWAYS)}
        for path in changed:
            if any(PurePosixPath(path).match(each) for each in CHANGES_EVERYTHING):
                return Selection(self.tests, path)
            if path in self._texts:
                sources.add(path)
                continue
            readers, neighbors = self._readers(path), self._tests_of_folder(path)
            if not readers and not neighbors:
                return Selection(self.tests, path)
            sources |= readers
            tests |= neighbors
        return Selection(tuple(sorted(tests | (self._dependents(sources) & {*self.tests}))))

    def _dependents(self, sources: set[str]) -> set[str]:
        """Return these files and all that depend on them, directly or not."""
        found: set[str] = set()
        waiting = [*sources]
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting += self._importers.get(path, ())
        return found

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """The source of each Python file."""
        own = (path for path in self._files if path.endswith(".py"))
        return {path: (self._root / path).read_text(encoding="utf-8") for path in own}

    @cached_property
    def _importers(self) -> Mapping[str, set[str]]:
        """The files that depend on a file directly."""
        found: dict[str, set[str]] = {}
        for importer, imported in [*self._imports(), *self._further()]:
            if importer != imported:
                found.setdefault(imported, set()).add(importer)
        return found

    def _imports(self) -> Iterator[tuple[str, str]]:
        """Yield each importing file with a file that it imports.

        Raises:
            subprocess.CalledProcessError: ruff cannot read a file.
        """
        ruff = Path(sys.executable).with_name("ruff")
        options = ("--quiet", "--detect-string-imports", "--min-dots", "1")
        done = subprocess.run(
            [ruff, "analyze", "graph", *options, "."],
            cwd=self._root,
            capture_output=True,
            text=True,
            check=True,
        )
        for importer, imported in json.loads(done.stdout).items():
            yield from ((importer, _without_link(each)) for each in imported)

    def _further(self) -> Iterator[tuple[str, str]]:
        """Yield dependencies that are no imports."""
        for path, text in self._texts.items():
            for package in {_path_of(name) for name in _PACKAGE.findall(text)}:
                yield from ((path, each) for each in self._packages.get(package, ()))
            if path != FOUND_BY_FOLDER:
                yield from ((path, each) for each in self._composed(text))
        for starter, programs in STARTED_BY_PATH.items():
            yield from ((starter, program) for program in programs)
        table, folder = NAMED_IN_A_TABLE
        yield from ((table, path) for path in self._texts if path.startswith(folder))
        yield from self._rules_in_tests()
        for test in self.tests:
            for folder in PurePosixPath(test).parents:
                # All tests depend on the fixtures of the root: see CHANGES_EVERYTHING.
                if len(folder.parts) > 1:
                    yield test, f"{folder}/conftest.py"

    def _rules_in_tests(self) -> Iterator[tuple[str, str]]:
        """Yield each test that runs a policy rule of the whole pack, with the file of the rule."""
        found = self._composed(self._texts.get(FOUND_BY_FOLDER, ""))
        rules = {PurePosixPath(path).stem.replace("_", "-"): path for path in found}
        for test in self.tests:
            if is_whole(test):
                continue
            names = set(_RULE_NAME.findall(self._texts[test])) & rules.keys()
            of_pack = PurePosixPath(test).match(RUN_EVERY_RULE)
            if of_pack and not slow_markers(self._root / test):
                names = rules.keys()
            yield from ((test, rules[name]) for name in names)

    def _composed(self, text: str) -> Iterator[str]:
        """Yield the modules that a name with inserted parts can mean."""
        for name in _COMPOSED.findall(text):
            parts = (re.escape(part) for part in _INSERTED.split(_path_of(name)))
            pattern = re.compile(r"\w+".join(parts) + r"\.py")
            yield from (path for path in self._texts if pattern.fullmatch(path))

    @cached_property
    def _packages(self) -> Mapping[str, list[str]]:
        """The modules of each package, without those of packages inside it."""
        found: dict[str, list[str]] = {}
        for path in self._texts:
            found.setdefault(str(PurePosixPath(path).parent), []).append(path)
        return found

    def _readers(self, path: str) -> set[str]:
        """Return the Python files that read another file, by its name or its folder."""
        file = PurePosixPath(path)
        wanted = {file.name, *_names_of_folder(file.parent)}
        if path.startswith("Pulumi."):
            wanted |= {"Pulumi."}
        found = {own for own, text in self._texts.items() if any(name in text for name in wanted)}
        # The modules next to a file, or above the folder of data that it lies in.
        folders = {str(folder) for folder in (file.parent, file.parent.parent) if folder.name}
        near = [own for folder in folders for own in self._packages.get(folder, ())]
        return found | {own for own in near if f'"{file.parent.name}"' in self._texts[own]}

    def _tests_of_folder(self, path: str) -> set[str]:
        """Return the tests of the folder that a file lies in, or of the part that it belongs to."""
        for folder in PurePosixPath(path).parents:
            name = str(folder).removeprefix("components/").removeprefix("src/")
            if name in (".", "tests"):
                break
            own = name if name.startswith("tests/") else f"tests/{name}"
            found = {test for test in self.tests if test.startswith(f"{own}/")}
            if found:
                return found
        return set()


def _path_of(module: str) -> str:
    """Return the path of a module or a package, without a suffix."""
    path = module.replace(".", "/")
    return _without_link(f"src/{path}" if path.startswith("trainyard/") else path)


def _without_link(path: str) -> str:
    """Return the path of a file that is also reached through a link in `src/trainyard`."""
    return _LINK.sub("", path)


def _names_of_folder(folder: PurePosixPath) -> Iterator[str]:
    """Yield how source names a folder: `"logs" / "x"` below its parent, or as a path."""
    if len(folder.parts) > 1:
        parent, name = folder.parts[-2:]
        yield f'"{parent}" / "{name}"'
        yield f"{parent}/{name}"


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
