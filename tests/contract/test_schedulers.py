"""What differs by scheduler is in the packages of the schedulers, and chosen in their registry."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.tracked import ROOT, tracked
from trainyard.stack_files import stack_files

SCHEDULERS = Path("src/trainyard/schedulers")
REGISTRY = SCHEDULERS / "registry.py"
KINDS = {"EKS", "PARALLELCLUSTER", "BATCH"}
"""The constants of the architecture kinds that have a scheduler."""
PARTS = {
    "scheduler.py",
    "job_plan.py",
    "submission.py",
    "job_wait.py",
    "jobs.py",
    "verification.py",
    "summary.py",
}
SHARED = ("commands/jobs", "commands/cluster/repair.py", "commands/cluster/verify.py")
SHARED += ("commands/deployment/diagnose.py", "commands/deployment/status.py")
SHARED += ("commands/deployment/up.py", "diagnosis", "jobs", "repair", "schedulers", "verify")
"""What is the same for all schedulers, below `src/trainyard`."""
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


def test_what_the_schedulers_share_does_not_ask_for_the_kind_of_a_stack() -> None:
    assert vars(stack_files).keys() >= KINDS
    asking = {
        path
        for path in OUR_FILES
        if str(path).removeprefix("src/trainyard/").startswith(SHARED)
        and any(isinstance(node, ast.Name) and node.id in KINDS for node in nodes_of(path))
    }
    # `--unreachable-cluster` is an option of EKS only.
    assert asking - {Path("src/trainyard/diagnosis/unreachable_cluster.py")} == {REGISTRY}


def test_the_package_of_each_scheduler_has_the_same_parts() -> None:
    packages: dict[Path, set[str]] = {}
    for path in OUR_FILES:
        if path.is_relative_to(SCHEDULERS) and path.parent != SCHEDULERS:
            packages.setdefault(path.parent, set()).add(path.name)
    assert {path.name for path in packages} == {"batch", "kubernetes", "slurm"}
    for path, names in packages.items():
        assert names >= PARTS, path
