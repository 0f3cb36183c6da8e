"""A part of a public Go module, copied and edited, to build a program from.

Go cannot leave out a package that another one imports. `-overlay`, which replaces files of a build,
refuses those of the module cache, so the build replaces a whole module by a copy.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.go_build import build_environment


@dataclass(frozen=True, kw_only=True)
class SourceModule:
    """A Go module that is copied in part instead of being required."""

    path: str
    """Its path on the module proxy."""
    version: str
    hash: str
    """Its hash, as `go.sum` writes it."""
    declared_path: str
    """Its path in its own `go.mod` and in import statements."""
    roots: tuple[str, ...]
    """Packages that the plugin imports; the copy holds what they need."""


class Source:
    """The Go files of one module, with edits, and which of them a build needs."""

    def __init__(self, module: SourceModule, directory: Path) -> None:
        self.module = module
        self.directory = directory
        self._edited: dict[str, str] = {}

    def read(self, path: str) -> str:
        """Return a file of the module as edited so far."""
        if path not in self._edited:
            return (self.directory / path).read_text(encoding="utf-8")
        return self._edited[path]

    def write(self, path: str, text: str) -> None:
        """Put a text in place of a file, or add a file."""
        self._edited[path] = text

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the one occurrence of a text.

        Raises:
            EngineError: it does not occur exactly once: the module is not the one that was read.
        """
        self.substitute(path, re.escape(old), lambda _: new, once=True)

    def substitute(
        self, path: str, pattern: str, new: Callable[[re.Match[str]], str], *, once: bool = False
    ) -> None:
        """Replace what a pattern finds; `once` says that it must find exactly one place.

        Raises:
            EngineError: it finds nothing, or several places where one is expected.
        """
        text, count = re.subn(pattern, new, self.read(path), flags=re.DOTALL)
        if not count or (once and count > 1):
            raise EngineError(
                f"{path} of {self.module.path} {self.module.version} is not as expected: "
                f"{pattern!r} is found {count} times"
            )
        self._edited[path] = text

    def packages(self) -> set[str]:
        """Return the directories that the roots need, themselves included."""
        found: set[str] = set()
        todo = list(self.module.roots)
        own = f"{self.module.declared_path}/"
        while todo:
            package = todo.pop()
            if package in found:
                continue
            found.add(package)
            names = (name for path in self.files(package) for name in imports(self.read(path)))
            todo += [name.removeprefix(own) for name in names if name.startswith(own)]
        return found

    def files(self, package: str) -> list[str]:
        """Return the Go files of a package, without its tests."""
        directory = self.directory / package
        own = {path.name for path in directory.glob("*.go")} if directory.is_dir() else set()
        added = {Path(p).name for p in self._edited if Path(p).parent == Path(package)}
        names = sorted(name for name in own | added if not name.endswith("_test.go"))
        paths = [f"{package}/{name}" for name in names]
        return [path for path in paths if self._edited.get(path) != ""]

    def copy(self, target: Path) -> None:
        """Write the packages that are needed, with what they embed, the licence and `go.mod`."""
        packages = self.packages()
        for package in packages:
            for path in self.files(package):
                _put(target / path, self.read(path))
                for embedded in self._embedded(path, packages):
                    _put(target / embedded, self.read(embedded))
        for name in ("go.mod", "LICENSE"):
            _put(target / name, self.read(name))

    def _embedded(self, path: str, packages: set[str]) -> Iterator[str]:
        for patterns in re.findall(r"^//go:embed (.+)$", self.read(path), flags=re.MULTILINE):
            for pattern in patterns.split():
                for found in sorted((self.directory / path).parent.glob(pattern)):
                    relative = found.relative_to(self.directory)
                    of_a_service = "service" in relative.parts[:-2]
                    if not of_a_service or str(relative.parent) in packages:
                        yield str(relative)


def imports(text: str) -> list[str]:
    """Return the import paths of a Go file."""
    head = text.split("\n)\n", 1)[0] if "import (" in text else text
    return re.findall(r'^\s*(?:import )?(?:[\w.]+ )?"([^"]+)"', head, flags=re.MULTILINE)


def fetched(module: SourceModule, go: str) -> Path:
    """Return the directory of a module in Go's module cache.

    `go.sum` does not cover a module that a directory replaces, and the checksum database does not
    know every module: the pinned hash takes the place of both.

    Args:
        module: What to fetch.
        go: The `go` command.

    Raises:
        EngineError: it cannot be had, or is not the pinned one.
    """
    environment = build_environment() | {"GONOSUMDB": module.path, "GOFLAGS": ""}
    command = [go, "mod", "download", "-json", f"{module.path}@{module.version}"]
    with tempfile.TemporaryDirectory(prefix="trainyard-") as nowhere:
        answer = subprocess.run(
            command, cwd=nowhere, env=environment, capture_output=True, text=True, check=False
        )
    try:
        found = json.loads(answer.stdout)
        failure = found.get("Error", "")
    except ValueError:
        found, failure = {}, answer.stderr.strip()
    if failure or "Dir" not in found:
        raise EngineError(f"the Go module {module.path} cannot be had: {failure}")
    if found["Sum"] != module.hash:
        raise EngineError(
            f"the Go module {module.path} {module.version} is not the pinned one: its hash is "
            f"{found['Sum']}, pinned is {module.hash}"
        )
    return Path(found["Dir"])


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
