"""Files are read and written in one place, so that no command waits for a pipe or replaces one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.tracked import ROOT, tracked

PLACES = {"src/trainyard/stack_files/files.py", "components/package_data.py"}
METHODS = {
    *("open", "read_text", "read_bytes", "write_text", "write_bytes", "touch", "hardlink_to"),
    *("copy", "copy2", "copyfile", "copyfileobj", "copytree", "mkstemp", "NamedTemporaryFile"),
}
COPIES = {name for name in METHODS if name.startswith("copy")}
ALLOWED = {
    ("src/trainyard/workspace/update_gate.py", "gate.open"): "starts a thread",
    ("src/trainyard/schedulers/slurm/submission.py", "tarfile.open"): "of bytes in memory",
    ("src/trainyard/stack_files/installation.py", "found.read_text"): "of importlib.metadata",
    ("src/trainyard/cli/streams.py", "os.open"): "/dev/null, for a stream that is closed",
    ("components/update_gate.py", "touch"): "the side of the program, which knows no command line",
    ("components/update_gate.py", "verdict.read_text"): "the same",
    ("components/batch/node_start.py", "*"): "a program that runs in containers without trainyard",
}
"""Calls that open no file of the user, or cannot use the place; and why."""


def opened(tree: ast.Module) -> Iterator[str]:
    """Yield the calls that open a file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        if isinstance(function, ast.Name) and function.id == "open":
            yield "open"
        elif isinstance(function, ast.Attribute) and function.attr in METHODS:
            of = function.value.id if isinstance(function.value, ast.Name) else ""
            if function.attr in COPIES and of != "shutil":
                continue
            yield f"{of}.{function.attr}".removeprefix(".")


def allowed(path: str, call: str) -> bool:
    return (path, call) in ALLOWED or (path, "*") in ALLOWED


MODULES = [str(path) for path in tracked(".py") if path.parts[0] in ("src", "components")]


def test_no_module_goes_round_the_place() -> None:
    found = [
        f"{path}: {call}"
        for path in MODULES
        if path not in PLACES
        for call in opened(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        if not allowed(path, call)
    ]
    assert found == [], "use trainyard.stack_files.files"


def test_every_exception_is_needed() -> None:
    made = {
        (path, call)
        for path in MODULES
        for call in opened(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    }
    made |= {(path, "*") for path, _ in made}
    assert ALLOWED.keys() <= made


@pytest.mark.parametrize(
    "code",
    [
        *("open(p)", "p.open()", "os.open(p, 0)", "Path(x).read_text()", "p.write_bytes(b)"),
        *("shutil.copyfile(a, b)", "tempfile.NamedTemporaryFile()", "(a / b).write_text(t)"),
    ],
)
def test_calls_that_open_files_are_seen(code: str) -> None:
    assert len([*opened(ast.parse(code))]) == 1


def test_dictionaries_are_copied_as_before() -> None:
    assert [*opened(ast.parse("values.copy()"))] == []
