"""The test files that a change can have broken, by what they import and read.

`ruff analyze graph` reads the imports, also those that strings name, such as `python -m trainyard`.
No plugin of pytest fits: pytest-testmon needs a recorded run and does not see the processes that
whole stacks start, and none knows files that are not Python. What imports do not show is added
here: packages that a registry names, names that are composed, the fixtures of a folder, programs
that are started by their path, and data files.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from tools.repository import repository_files
from tools.suite.parts import is_whole, slow_markers

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
