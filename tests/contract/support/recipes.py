"""The recipes of CONTRIBUTING.md, and copies of the repository in which a test follows one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from os import environ, pathsep
from pathlib import Path

from tests.support.tracked import ROOT
from tools.repository import copy_repository
from trainyard.stack_files.stacks_directory import VARIABLE

PAGE = ROOT / "CONTRIBUTING.md"
_HEADING = re.compile(r"^(#{2,3}) (.+)$", re.MULTILINE)
_PLACE = re.compile(r"^\d+\. `([^`]+)`", re.MULTILINE)
_CHOSEN = re.compile(r"<(\w+)>")


def sections() -> Iterator[tuple[str, str, str]]:
    """Yield the sections of the page: the heading above it, its own heading, and its text."""
    found = [*_HEADING.finditer(PAGE.read_text(encoding="utf-8"))]
    above = ""
    for each, after in zip(found, [*found[1:], None], strict=True):
        level, title = each.groups()
        above = title if level == "##" else above
        yield above, title, each.string[each.end() : after.start() if after else None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe with numbered places."""

    title: str
    places: tuple[str, ...]
    """Paths, with `<name>` for what the contributor chooses."""


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return the recipes with numbered places, by title."""
    found = [
        Recipe(title, tuple(_PLACE.findall(text)))
        for above, title, text in sections()
        if above == "Recipes" and title != above
    ]
    return {each.title: each for each in found if each.places}


class NotSufficientError(AssertionError):
    """A program fails in the copy, or a place does not fit; the message says which and why."""


def copy_to(root: Path) -> None:
    """Copy the repository to a new directory, as a repository of its own.

    Tests list the files of a repository with git, which also undoes what a recipe has changed.
    """
    copy_repository(ROOT, root)
    _git(root, "init", "--quiet")
    _git(root, "add", ".")


def undo(root: Path) -> None:
    """Remove what following a recipe has changed in a copy."""
    _git(root, "checkout", "--quiet", ".")
    _git(root, "clean", "--quiet", "--force", "-d")


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True)


@dataclass
class Followed:
    """A copy of the repository, in which the places of a recipe are changed one after another."""

    recipe: Recipe
    root: Path
    """Root of the copy."""
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the contributor chooses, by its name in the places."""
    touched: set[str] = field(default_factory=set[str])

    def path(self, place: str) -> Path:
        """Return the file of a place, and note that the recipe has been followed there.

        Args:
            place: The place as the recipe names it, or its end from a slash on.

        Raises:
            NotSufficientError: the recipe names no such place, or several.
        """
        named = [each for each in self.recipe.places if f"/{each}".endswith(f"/{place}")]
        if len(named) != 1:
            raise NotSufficientError(f"{self.recipe.title}: {len(named)} places are {place}")
        self.touched.add(named[0])
        return self.root / _CHOSEN.sub(lambda found: self.chosen[found[1]], named[0])

    def module(self, place: str) -> str:
        """Return the full name of the module that a place is."""
        path = self.path(place).relative_to(self.root).with_suffix("").as_posix()
        return f"trainyard.{path.removeprefix('src/trainyard/')}".replace("/", ".")

    def write(self, place: str, text: str) -> None:
        """Write a new file.

        Raises:
            NotSufficientError: its folder does not exist, or it exists itself.
        """
        path = self.path(place)
        if path.exists() or not path.parent.is_dir():
            raise NotSufficientError(f"{path.relative_to(self.root)} cannot be a new file")
        path.write_text(text, encoding="utf-8")

    def add(self, path: str, text: str) -> None:
        """Write a file that is no place of the recipe, such as a test."""
        (self.root / path).write_text(text, encoding="utf-8")

    def insert(self, place: str, text: str, *, after: str = "") -> None:
        """Insert text after what a regular expression matches, or at the end.

        Raises:
            NotSufficientError: the place has no such text, or has it several times.
        """
        path = self.path(place)
        if not path.is_file():
            raise NotSufficientError(f"{path.relative_to(self.root)} does not exist")
        old = path.read_text(encoding="utf-8")
        ends = [found.end() for found in re.finditer(after, old)] if after else [len(old)]
        if len(ends) != 1:
            raise NotSufficientError(f"{place} has {after!r} {len(ends)} times")
        path.write_text(f"{old[: ends[0]]}{text}{old[ends[0] :]}", encoding="utf-8")

    def python(self, *arguments: str) -> str:
        """Run Python in the copy, and return its output.

        Raises:
            NotSufficientError: it fails; the message has its output.
        """
        environment = {
            **environ,
            "PYTHONPATH": pathsep.join((str(self.root / "src"), str(self.root))),
            VARIABLE: str(self.root),
        }
        # Each program would compile all modules again.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NotSufficientError(f"{' '.join(arguments)}\n{done.stdout}")
        return done.stdout

    def pytest(self, *arguments: str) -> None:
        """Run tests of the copy.

        Raises:
            NotSufficientError: one fails; the message has the output.
        """
        options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--basetemp", "../pytest")
        self.python("-m", "pytest", *options, *arguments)

    def left(self) -> set[str]:
        """Return the places of the recipe that were not needed."""
        return {*self.recipe.places} - self.touched
