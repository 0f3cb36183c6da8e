"""Raise a pin: write the new version in all its places and run the dependent commands."""

import difflib
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.pins import ROOT, EksVersions, Pin, PinError, Place, numbers
from trainyard.components.catalog.versions import EKS_VERSIONS
from trainyard.sandbox.engine.go_build import build_environment

_MODULE = "python -m"
_TIDY = "go mod tidy"
_NO_TIDY = f"`{_TIDY}` is not for this module"
_LINKED = "sandbox/engine/aws_plugin/go.mod"
"""The module that requires directories that only a build has."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
_VERSION = re.compile(r"\d[\w.+-]*")
_TAG = re.compile(r"\w[\w.+-]*")

_GENERATORS: Mapping[str, tuple[str, ...]] = {
    "moto": (
        "python -I tools/environment.py requirements/dev.txt",
        f"{_MODULE} tools.catalog.generate",
    ),
    "aws-parallelcluster": (f"{_MODULE} tools.parallelcluster.update_policies",),
    "boto3": (
        "python -I tools/environment.py requirements/dev.txt",
        f"{_MODULE} tools.catalog.constraints",
    ),
}
"""Commands that generate files from a package, by name of its pin."""

_TESTS: Mapping[str, str] = {
    "pyproject.toml": "./trainyard test",
    "tools/lock/": "./trainyard test tests/tools/lock",
    "sandbox/engine/": "./trainyard test tests/sandbox/engine tests/sandbox/kubernetes",
    "src/trainyard/jobs/": "./trainyard test tests/trainyard/jobs",
    "sandbox/": "./trainyard test tests/sandbox",
    "components/": "./trainyard test tests/catalog tests/stacks",
    "tools/programs/": "./trainyard test tests/monitoring",
    "containers/": "./trainyard test tests/containers",
    "docs/ci/": "./trainyard test tests/contract",
}
"""Tests of a pin, by prefix of the file that holds it."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command that updates generated files."""

    words: tuple[str, ...]
    directory: str = "."

    def __str__(self) -> str:
        """Return the command as typed in the root of the repository."""
        line = shlex.join(self.words)
        return line if self.directory == "." else f"(cd {shlex.quote(self.directory)} && {line})"


@dataclass(frozen=True, kw_only=True)
class Raise:
    """The changes for a new version of a pin."""

    pin: Pin
    version: str
    files: Mapping[str, tuple[str, str]]
    """The text of each file before and after, by path in the repository."""
    commands: tuple[Command, ...]
    tests: tuple[str, ...]
    root: Path
    """The repository."""

    def diff(self) -> str:
        """Return the changes as a unified diff."""
        lines: list[str] = []
        for file, (before, after) in self.files.items():
            lines += difflib.unified_diff(
                before.splitlines(keepends=True),
                after.splitlines(keepends=True),
                f"a/{file}",
                f"b/{file}",
                n=0,
            )
        return "".join(lines)

    def write(self) -> None:
        """Write the files."""
        for file, (_, after) in self.files.items():
            (self.root / file).write_text(after, encoding="utf-8")


def find(name: str, pins: Mapping[str, Pin]) -> Pin:
    """Return the pin with this name.

    Raises:
        PinError: it does not exist; the message names similar pins.
    """
    if name in pins:
        return pins[name]
    holding = [other for other in pins if name in other.split("/")]
    near = holding or difflib.get_close_matches(name, pins, n=3, cutoff=0.4)
    said = f"did you mean {', '.join(near)}?" if near else "no name is near to it"
    raise PinError(f"there is no pin {name!r}; {said} `python -m tools.pins --offline` lists them")


def plan(pin: Pin, version: str, root: Path = ROOT) -> Raise:
    """Return the changes of a repository for a new version of a pin. Nothing is written.

    Raises:
        PinError: the pin cannot be raised to this version; the message says why.
    """
    version = re.sub(r"^v(?=\d)", "", version)
    _check(pin, version)
    files = dict[str, tuple[str, str]]()
    for file in dict.fromkeys(place.file for place in pin.places):
        before = (root / file).read_text(encoding="utf-8")
        here = [place for place in pin.places if place.file == file]
        files[file] = before, _replaced(before, here, version)
    return Raise(
        pin=pin,
        version=version,
        files={file: texts for file, texts in files.items() if texts[0] != texts[1]},
        commands=tuple(_commands(pin, files, root)),
        tests=tuple(
            dict.fromkeys(
                test for file in files for prefix, test in _TESTS.items() if file.startswith(prefix)
            )
        ),
        root=root,
    )


def _check(pin: Pin, version: str) -> None:
    place = f"{pin.places[0].file}:{pin.places[0].line}"
    if pin.by_hand:
        raise PinError(f"{pin.name} ({place}) is not raised by a command: {pin.by_hand}")
    commits = bool(_COMMIT.fullmatch(pin.version))
    spelled = _COMMIT if commits else _VERSION if pin.version[0].isdigit() else _TAG
    if not spelled.fullmatch(version) or not (commits or numbers(version)):
        kind = "a commit of 40 hexadecimal digits" if commits else f"one like {pin.version}"
        raise PinError(f"{version!r} is no version for {pin.name} ({place}): give {kind}")
    if isinstance(pin.source, EksVersions) and version not in EKS_VERSIONS:
        raise PinError(
            f"{pin.name} ({place}) can be one of {', '.join(EKS_VERSIONS)}; for {version} add an "
            "entry to EKS_VERSIONS first"
        )
    if version == pin.version and not pin.strays:
        raise PinError(f"{pin.name} is {version} already ({place})")
    if not commits and numbers(version) < numbers(pin.version):
        raise PinError(
            f"{version} is older than {pin.version}, which {place} pins for {pin.name}; to go "
            "back, revert the commit that raised it"
        )


def _replaced(text: str, places: Iterable[Place], version: str) -> str:
    """Return a text with the version in all places; starts at the end to keep the offsets valid."""
    for place in sorted(places, key=lambda each: each.start, reverse=True):
        end = place.start + len(place.text)
        text = f"{text[: place.start]}{place.spelled(version)}{text[end:]}"
    return text


def _commands(pin: Pin, files: Iterable[str], root: Path) -> Iterable[Command]:
    locked = {"pyproject.toml", "tools/lock/__init__.py"}
    if locked & set(files) and pin.name != "python":
        yield _python(f"{_MODULE} tools.lock")
    for file in files:
        if Path(file).name == "go.mod" and file != _LINKED:
            yield _go(file, root)
    if _LINKED in files:
        yield _python(f"{_MODULE} trainyard.sandbox.engine.linked_modules")
    for line in _GENERATORS.get(pin.name, ()):
        yield _python(line)


def _python(line: str) -> Command:
    return Command(words=tuple(line.split()))


def _go(file: str, root: Path) -> Command:
    """Return the command that updates the indirect requirements and checksums of a Go module."""
    text = (root / file).read_text(encoding="utf-8")
    line = "go list -mod=mod -deps ./..." if _NO_TIDY in text else _TIDY
    return Command(words=tuple(line.split()), directory=Path(file).parent.as_posix())


def mentions(pin: Pin, raised: Mapping[str, tuple[str, str]], root: Path = ROOT) -> list[str]:
    """Return the lines outside the raised files that contain the old version: ``path:line: text``.

    These lines, for example in documents, recordings and tests, must be reviewed. Lock files are
    excluded, because commands write them.
    """
    pattern = rf"(^|[^0-9.]){re.escape(pin.version)}($|[^0-9])"
    excluded = [f":!{file}" for file in raised]
    excluded += [
        ":!requirements.txt",
        ":!requirements",
        ":!*/go.sum",
        ":!*/go.mod",
        ":!CHANGELOG.md",
        ":!tools/lock/uv.txt",
    ]
    command = ["git", "grep", "-nIE", pattern, "--", ".", *excluded]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def follow(commands: Sequence[Command], say: Callable[[str], None], root: Path = ROOT) -> None:
    """Run the commands for a raised pin, one after the other.

    Raises:
        PinError: a command failed; the message names the remaining commands.
    """
    for number, command in enumerate(commands):
        say(str(command))
        words = list(command.words)
        if words[0] == "python":
            words[0] = sys.executable
        try:
            done = subprocess.run(
                words, cwd=root / command.directory, env=build_environment(), check=False
            )
            failed = f"exit code {done.returncode}" if done.returncode else ""
        except FileNotFoundError:
            failed = f"{words[0]} is not on the PATH"
        if failed:
            left = "\n".join(f"  {each}" for each in commands[number:])
            raise PinError(
                f"the pin is raised, but a command after it failed ({failed}). Mend that and run "
                f"these:\n{left}"
            )
