"""The map in CONTRIBUTING.md names every folder, in the order of the imports, and paths exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath

import pytest

from tests.contract.support.recipes import PAGE, sections
from tests.support.tracked import ROOT, tracked_files

PARTS = ("components", "policies", "sandbox", "src/trainyard")
CODE = re.compile(r"`([^`]+)`")
FIRST_CELL = re.compile(r"^\| (`[^|]+) \|", re.MULTILINE)
MADE_BY_PROGRAMS = {".trainyard/site"}
"""Paths that git ignores."""
SUFFIXES = {path.suffix for path in tracked_files()} - {""}


def in_map(part: str) -> list[str]:
    """Return the folders in the table of a part, from the top to the bottom."""
    (text,) = [text for above, title, text in sections() if (above, title) == ("Map", part)]
    return [name for cell in FIRST_CELL.findall(text) for name in CODE.findall(cell)]


@pytest.mark.parametrize("part", PARTS)
def test_every_folder_of_a_part_is_in_its_table(part: str) -> None:
    depth = len(PurePosixPath(part).parts)
    below = [path.parts for path in tracked_files() if path.is_relative_to(part)]
    folders = sorted({parts[depth] for parts in below if len(parts) > depth + 1})
    assert sorted(in_map(part)) == folders


def test_the_folders_of_the_program_stand_below_what_they_import() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers" and "trainyard.components.config" in each["layers"]
    ]
    layer_of = {
        name.strip().removeprefix("trainyard.components."): number
        for number, layer in enumerate(contract["layers"])
        for name in layer.split("|")
    }
    layers = [layer_of[name] for name in in_map("components")]
    assert layers == sorted(layers, reverse=True)


def named_paths() -> Iterator[str]:
    """Yield the words of inline code that are paths of this repository."""
    for code in CODE.findall(PAGE.read_text(encoding="utf-8")):
        for word in code.split():
            path = PurePosixPath(word)
            is_path = "/" in word or path.suffix in SUFFIXES
            is_example = any(each.isupper() for each in path.parts) or "=" in word
            if is_path and not is_example and not word.startswith((".", "-")):
                yield word


def exists(word: str) -> bool:
    """Return whether a path exists; without a folder, whether any file has such a name."""
    pattern = re.sub(r"<\w+>", "*", word)
    if "/" in pattern:
        return any(ROOT.glob(pattern.rstrip("/")))
    return any(fnmatch(path.name, pattern) for path in tracked_files())


def test_every_path_that_the_page_names_exists() -> None:
    names = {*named_paths()} - MADE_BY_PROGRAMS
    assert len(names) > 100
    assert not sorted(name for name in names if not exists(name))


@pytest.mark.parametrize("word", ["components/gone.py", "no_such.py", "src/<any>/gone.py"])
def test_a_path_that_does_not_exist_is_found(word: str) -> None:
    assert not exists(word)
