"""What the rules of the tree ask of its Python files: their sizes, and who imports them."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

_DURATION = re.compile(r"#.*\b\d+(\.\d+)? m?s\b")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
Place = Literal["module", "function", "types"]
"""Of a statement: at the top, inside a function, or read by type checkers only."""
_CODE_SPAN = re.compile(r"`([\w.]+)`")


@dataclass(frozen=True, slots=True)
class Import:
    """An import of another module of the tree."""

    module: str
    place: Place
    """Where it is."""
    has_duration: bool
    """Whether a comment beside it has a number of milliseconds or seconds."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function or a method."""

    name: str
    line: int
    lines: int
    """Number of lines, without decorators."""


@dataclass(frozen=True, slots=True)
class Module:
    """A Python file of the tree."""

    path: Path
    """Relative to the root of the tree."""
    lines: int
    functions: tuple[Function, ...]
    imports: tuple[Import, ...]
    is_program: bool
    """Whether it does something when it is run: `if __name__ == "__main__"`."""


Tree = Mapping[str, Module]
"""The modules by their full names."""


def read_tree(root: Path, paths: Iterable[Path]) -> Tree:
    """Return the modules of Python files, whose paths are relative to the root."""
    named = {name_of(path): path for path in paths}
    return {name: _read(root, path, named) for name, path in named.items()}


LINKED = ("components", "policies", "sandbox")
"""Folders of the root that are imported below `trainyard`, through a link in `src/trainyard`."""


def name_of(path: Path) -> str:
    """Return the full name of a module; that of its package for `__init__.py`."""
    parts = path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts
    if parts[:1] == ("src",):
        return ".".join(parts[1:])
    return ".".join(("trainyard", *parts) if parts and parts[0] in LINKED else parts)


def _read(root: Path, path: Path, named: Collection[str]) -> Module:
    text = (root / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    functions: list[Function] = []
    imports: list[Import] = []
    is_program = False
    for statement, place in _statements(ast.parse(text), "module"):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (statement.end_lineno or statement.lineno) - statement.lineno + 1
            functions.append(Function(statement.name, statement.lineno, size))
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            has_duration = _says_duration(lines, statement)
            imports += [Import(name, place, has_duration) for name in _imported(statement, named)]
        elif isinstance(statement, ast.If):
            is_program |= ast.unparse(statement.test) == "__name__ == '__main__'"
    return Module(path, len(lines), tuple(functions), tuple(imports), is_program)


def _statements(block: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
    """Yield all statements below another one, with their places."""
    for field in _BLOCKS:
        for each in getattr(block, field, ()):
            yield each, place
            yield from _statements(each, _place_below(each, place))


def _place_below(statement: ast.AST, place: Place) -> Place:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return "function"
    if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
        return "types"
    return place


def _imported(statement: ast.Import | ast.ImportFrom, named: Collection[str]) -> Iterator[str]:
    """Yield the modules of the tree that a statement imports."""
    if isinstance(statement, ast.Import):
        names = {alias.name for alias in statement.names}
    else:
        whole = {alias.name: f"{statement.module}.{alias.name}" for alias in statement.names}
        names = {name if name in named else statement.module or "" for name in whole.values()}
    yield from sorted(name for name in names if name in named)


def _says_duration(lines: list[str], statement: ast.stmt) -> bool:
    """Return whether a comment in the lines of a statement, or right above, has a duration."""
    first = statement.lineno - 1
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return any(_DURATION.search(line) for line in lines[first : statement.end_lineno])


def circles(tree: Tree) -> list[list[str]]:
    """Return modules that import each other in a circle, at the top or inside functions.

    What only type checkers read makes none. Of circles with a module in common, one is returned.
    """
    graph = {
        name: {each.module for each in module.imports if each.place != "types"} - {name}
        for name, module in tree.items()
    }
    found: list[list[str]] = []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = [*reversed(error.args[1])]
            found.append(circle)
            graph = {name: of - {*circle} for name, of in graph.items() if name not in circle}
        else:
            return found


def long_functions(tree: Tree, most: int) -> list[str]:
    """Return the functions with more lines than that, as `path:line: name, lines`."""
    return [
        f"{module.path}:{each.line}: {each.name}, {each.lines} lines"
        for module in tree.values()
        for each in module.functions
        if each.lines > most
    ]


def long_modules(tree: Tree, most: int) -> list[str]:
    """Return the modules with more lines than that, as `path: lines`."""
    return [f"{each.path}: {each.lines} lines" for each in tree.values() if each.lines > most]


def needless_modules(
    tree: Tree, *, commands: Collection[str], measured: Collection[str]
) -> dict[str, str]:
    """Return the modules whose only importer is in the same folder, with that importer.

    Such a module is a part of the other one. Tests do not count as importers of what they test.
    What is reached by its name, by its folder or by a row of a registry needs no importer.

    Args:
        tree: All modules.
        commands: Names of modules that the command line imports by their names.
        measured: Names of modules whose late import saves a time that is documented.
    """
    importers: dict[str, dict[Path, list[Import]]] = {name: {} for name in tree}
    for module in tree.values():
        for each in module.imports:
            if not _is_test(module.path) or _is_test(tree[each.module].path):
                importers[each.module].setdefault(module.path, []).append(each)
    found: dict[str, str] = {}
    for name, module in tree.items():
        if len(importers[name]) != 1 or name in commands or _is_entry(module):
            continue
        ((importer, imports),) = importers[name].items()
        if importer.stem == "registry":
            continue  # its rows name the modules, such as those of add-ons
        run = [each for each in imports if each.place != "types"]
        saves_time = run and all(
            each.place == "function" and (each.has_duration or name in measured) for each in run
        )
        if importer.parent == module.path.parent and not saves_time:
            found[str(module.path)] = str(importer)
    return found


def _is_test(path: Path) -> bool:
    return path.parts[0] == "tests"


def _is_entry(module: Module) -> bool:
    """Return whether a module is reached without an import."""
    path = module.path
    return (
        module.is_program
        or path.stem in {"__init__", "__main__", "conftest"}
        or path.stem.startswith("test_")
        # The pack imports every module of these folders: policies/pack/discovery.py
        # Packs in directories of users import it.
        or path == Path("policies/start.py")
        or (path.parts[:2] == ("policies", "rules") and len(path.parts) == 4)
    )


def measured_imports(text: str) -> frozenset[str]:
    """Return the modules in the first column of the table "Imports inside functions"."""
    _, _, section = text.partition("\n## Imports inside functions\n")
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    return frozenset(
        name for row in rows for name in _CODE_SPAN.findall(row.split("|")[1]) if "." in name
    )
