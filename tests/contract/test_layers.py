"""Import rules and conventions that no linter can check."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.tracked import ROOT, tracked, tracked_files
from trainyard.components.compute.image_registry import EMULATED_REGISTRIES
from trainyard.sandbox.access import REGISTRIES_VARIABLE

PYTHON = tracked(".py")
LINKED = {"components", "policies", "sandbox"}
TESTS = [path for path in PYTHON if path.parts[0] == "tests"]


@dataclass(frozen=True, slots=True)
class Source:
    """What the tests ask of a file. The trees of all files would take 300 MB."""

    imported: frozenset[str]
    called: frozenset[str]
    """The last name of each call."""
    attributes: frozenset[str]
    """The names of all attributes that the file uses."""
    left_over: tuple[int, ...]
    """Lines of strings after a statement."""


@cache
def source(path: Path) -> Source:
    module = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    nodes = list(ast.walk(module))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    pairs = statement_pairs(module)
    return Source(
        imported=frozenset(name for node in nodes for name in modules_of(node)),
        called=frozenset(
            c.attr if isinstance(c, ast.Attribute) else getattr(c, "id", "") for c in called
        ),
        attributes=frozenset(node.attr for node in nodes if isinstance(node, ast.Attribute)),
        left_over=tuple(
            text.lineno for before, text in pairs if is_text(text) and not documents(before)
        ),
    )


def modules_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module


def only_offenders(found: Mapping[str, Collection[str]]) -> dict[str, Collection[str]]:
    """Return the entries with findings."""
    return {path: names for path, names in found.items() if names}


def first_parts(path: Path) -> set[str]:
    return {module.partition(".")[0] for module in source(path).imported}


def test_folders_of_the_root_are_imported_below_trainyard_only() -> None:
    """In a clone, another name gives the same module twice; an installed package has no other."""
    found = {str(path): first_parts(path) & LINKED for path in PYTHON}
    assert not only_offenders(found)


def test_the_contracts_name_every_folder_of_the_command_line() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = [
        {*each.get("source_modules", ()), *each.get("forbidden_modules", ())}
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["type"] == "forbidden" and "tools" in each["forbidden_modules"]
    ]
    source = (path.parts for path in PYTHON if path.parts[0] == "src")
    folders = {f"trainyard.{parts[2]}" for parts in source if len(parts) > 3}
    assert len(named) == 3
    assert all(folders <= each for each in named)


def test_a_folder_has_at_most_25_modules() -> None:
    """Tests and the rules of the policy pack are exempt."""
    exempt = (Path("tests"), Path("policies/rules"))
    folders = Counter(path.parent for path in PYTHON)
    many = [path for path, count in folders.items() if count > 25]
    assert not [path for path in many if not any(path.is_relative_to(each) for each in exempt)]


def test_program_and_sandbox_agree_on_the_variable_of_the_emulated_registries() -> None:
    """The sandbox does not import the program here: other Python environments use the module."""
    assert REGISTRIES_VARIABLE == EMULATED_REGISTRIES


def test_no_string_is_left_over_after_a_statement() -> None:
    """A message split over two lines without parentheses loses its second half silently."""
    assert not [f"{path}:{line}" for path in PYTHON for line in source(path).left_over]


def statement_pairs(module: ast.Module) -> Iterator[tuple[ast.AST | None, ast.stmt]]:
    """Yield each statement inside a function with the one before it in the same block."""
    entered: list[tuple[ast.AST, bool]] = [(module, False)]
    while entered:
        node, inside = entered.pop()
        inside = inside or isinstance(node, FUNCTIONS)
        for field in ("body", "handlers", "cases", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            entered += [(each, inside) for each in block]
            if inside and not isinstance(node, ast.ClassDef):
                # The first string of a function is its docstring.
                yield from zip([node if field == "body" else None, *block], block, strict=False)


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_text(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    constant = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return constant or isinstance(value, ast.JoinedStr)


def documents(before: ast.AST | None) -> bool:
    """Whether a string after `before` is documentation: of a function, or of `self.attribute`."""
    if isinstance(before, FUNCTIONS):
        return True
    if isinstance(before, ast.Assign):
        return isinstance(before.targets[0], ast.Attribute)
    return isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Attribute)


def test_half_a_message_is_found() -> None:
    module = ast.parse('def f():\n    message = "first "\n    "second"\n    return message')
    found = [after for before, after in statement_pairs(module) if is_text(after)]
    assert [statement.lineno for statement in found] == [3]


def test_every_file_beside_tests_is_collected_or_support() -> None:
    """A test file with another name would never run."""
    known = {"conftest.py", "__init__.py"}
    folders = {"support", *DATA}
    assert not [
        str(path)
        for path in TESTS
        if not path.name.startswith("test_")
        and path.name not in known
        and not folders & set(path.parts)
    ]


DATA = {"foreign", "programs"}
"""Folders of programs that tests run in the engine."""


def test_tests_do_not_sleep() -> None:
    """Tests wait for a condition with a deadline."""
    assert not [str(path) for path in TESTS if "sleep" in source(path).called]


WITHOUT_SUBJECT = {
    "tests/contract/test_write_access.py",
    "tests/parallelcluster/support/apt.py",
    "tests/parallelcluster/support/node_root.py",
    "tests/support/aws_plugin.py",
    "tests/support/stranger.py",
}
"""Files that skip tests without their subject: the plugin is built if none is downloaded, only
Linux has Landlock, runs programs in another root directory, and can have apt, and only root can
start a process of another user."""


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    forbidden = {"skip", "skipif", "xfail", "importorskip"}
    found = {
        str(path): source(path).attributes & forbidden
        for path in TESTS
        if str(path) not in WITHOUT_SUBJECT
    }
    assert not only_offenders(found)


def test_main_is_a_table_of_contents() -> None:
    program = Path("src/trainyard/program.py")
    lines = (ROOT / program).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert {program, Path("__main__.py")} <= {*tracked_files()}
