"""What differs by scheduler is in the packages of the schedulers, and chosen in their registry."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tracked import ROOT, tracked
from trainyard.components.architectures.registry import ARCHITECTURES
from trainyard.schedulers.registry import SCHEDULERS as SCHEDULERS_BY_KIND

SCHEDULERS = Path("src/trainyard/schedulers")
REGISTRY = SCHEDULERS / "registry.py"
KINDS = {*ARCHITECTURES}
PARTS = {
    "scheduler.py",
    "job_plan.py",
    "submission.py",
    "job_wait.py",
    "jobs.py",
    "verification.py",
    "summary.py",
}
TABLES = {
    *(REGISTRY, Path("src/trainyard/topology/topology.py")),
    Path("src/trainyard/importing/live/clusters.py"),
    Path("src/trainyard/init/design.py"),
}
"""What is chosen by architecture: its scheduler, its picture, its reader, its facts for `init`."""
OUR_FILES = [path for path in tracked(".py") if path.parts[:2] == ("src", "trainyard")]


def nodes_of(path: Path) -> Iterator[ast.AST]:
    yield from ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))


def asks_for_plan(node: ast.AST) -> bool:
    """Return whether a call asks whether something is the plan of a kind of stack."""
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "isinstance"
        and any(
            isinstance(name, ast.Name) and name.id.endswith("Plan")
            for name in ast.walk(node.args[1])
        )
    )


def test_no_module_asks_for_the_class_of_a_plan() -> None:
    assert not [str(path) for path in OUR_FILES if any(map(asks_for_plan, nodes_of(path)))]


def kinds_in(node: ast.AST) -> set[str]:
    """Return the architecture kinds that an expression names."""
    texts = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
    return {text for text in texts if text in KINDS or text == "slurm"}


def asks_for_kind(node: ast.AST) -> bool:
    """Return whether something compares a kind of stack: `architecture == "eks"`."""
    return isinstance(node, ast.Compare | ast.match_case) and bool(
        kinds_in(node.pattern if isinstance(node, ast.match_case) else node)
        and re.search(r"\b(architecture|kind)\b|\bkind_of\b", ast.unparse(node))
    )


def is_table_of_kinds(node: ast.AST) -> bool:
    """Return whether a mapping has something for several kinds of stacks."""
    if not isinstance(node, ast.Dict):
        return False
    keys = {key.value if isinstance(key, ast.Constant) else None for key in node.keys}
    return len(keys & KINDS) > 1 and keys <= KINDS | {"slurm"}


@pytest.mark.parametrize(
    ("text", "asks", "is_table"),
    [
        ('stack_file.architecture == "eks"', True, False),
        ('kind in ("eks", "batch")', True, False),
        ('kind_of(stack_file) != "network"', True, False),
        ('found.kind == "capacity-block"', False, False),
        ('{"eks": 10, "batch": 2}', False, True),
        ('{"batch": 64}', False, False),
        ('{"eks": "cluster", "batch": "job-queue", "iam": "role"}', False, False),
    ],
)
def test_a_question_about_the_kind_of_a_stack_is_found(
    text: str, asks: bool, is_table: bool
) -> None:
    nodes = [*ast.walk(ast.parse(text))]
    assert (any(map(asks_for_kind, nodes)), any(map(is_table_of_kinds, nodes))) == (asks, is_table)


def test_no_module_asks_for_the_kind_of_a_stack() -> None:
    """What differs by scheduler is a method of it, and the rest one of `ArchitectureFacts`."""
    assert SCHEDULERS_BY_KIND.keys() < KINDS
    asking = {path for path in OUR_FILES if any(map(asks_for_kind, nodes_of(path)))}
    # It reads the kinds of node groups of a Terraform module.
    assert asking == {Path("src/trainyard/importing/terraform/blocks.py")}


def test_tables_by_kind_choose_what_only_an_architecture_has() -> None:
    found = {path for path in OUR_FILES if any(map(is_table_of_kinds, nodes_of(path)))}
    assert found == TABLES


def test_the_package_of_each_scheduler_has_the_same_parts() -> None:
    packages: dict[Path, set[str]] = {}
    for path in OUR_FILES:
        if path.is_relative_to(SCHEDULERS) and path.parent != SCHEDULERS:
            packages.setdefault(path.parent, set()).add(path.name)
    assert {path.name for path in packages} == {"batch", "kubernetes", "slurm"}
    for path, names in packages.items():
        assert names >= PARTS, path
