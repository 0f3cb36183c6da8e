"""Tests give what they test its collaborators as arguments, and patch no attribute of our modules.

A patch by the name of a module fails when code moves, although nothing has changed for users. The
test files that still have such patches are in `patches.txt`, with their numbers. A number may only
become smaller: whoever removes a patch also corrects the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tracked import ROOT, tracked

RECORDED = Path(__file__).with_name("patches.txt")
OURS = ("tools", "trainyard")


def test_no_test_file_has_more_patches_of_our_modules_than_recorded() -> None:
    found = {
        str(path): count
        for path in tracked(".py")
        if path.parts[0] == "tests" and (count := patches_in((ROOT / path).read_text("utf-8")))
    }
    lines = [line.split() for line in RECORDED.read_text("utf-8").splitlines()]
    assert found == {path: int(count) for path, count in lines}
    assert lines == sorted(lines)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("from trainyard import up\npatch.setattr(up, 'run', None)", 1),
        ("from trainyard import up\npatch.setattr(up.time, 'sleep', None)", 1),
        ("from trainyard.up import Up\npatch.setattr(Up, 'run', None)", 1),
        ("import trainyard.up as up\npatch.setattr(up, 'run', None)", 1),
        (
            "from trainyard import up\nfor each in (up,):\n    patch.setattr(each, 'run', None)",
            1,
        ),
        ("patch.setattr('trainyard.up.run', None)", 1),
        ("patch.setattr(f'{HERE}.run', None)", 1),
        ("patch.setattr('boto3.client', None)", 0),
        ("import os\npatch.setattr(os, 'cpu_count', None)", 0),
        ("patch.setenv('tools', 'x')", 0),
    ],
)
def test_a_patch_is_counted_however_it_names_its_target(source: str, count: int) -> None:
    assert patches_in(source) == count


def patches_in(source: str) -> int:
    """Return how many calls of `setattr` of a MonkeyPatch change an attribute of our code."""
    tree = ast.parse(source)
    ours = {*_imported(tree)}
    # A loop over our modules gives them another name.
    ours |= {
        each.target.id
        for each in ast.walk(tree)
        if isinstance(each, ast.For)
        and isinstance(each.target, ast.Name)
        and ours & _names(each.iter)
    }
    return sum(_changes(call, ours) for call in ast.walk(tree) if isinstance(call, ast.Call))


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if _is_ours(node.module or ""):
                yield from (each.asname or each.name for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (
                each.asname or each.name.partition(".")[0]
                for each in node.names
                if _is_ours(each.name)
            )


def _changes(call: ast.Call, ours: set[str]) -> bool:
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "setattr"):
        return False
    target = call.args[0]
    if len(call.args) == 3:
        return bool(ours & _names(target))
    # The short form has the name of the module in a text. What a variable contains is not known.
    return not isinstance(target, ast.Constant) or _is_ours(str(target.value))


def _names(expression: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(expression) if isinstance(each, ast.Name)}


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS
