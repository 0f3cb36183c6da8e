"""A problem of a stack file becomes a finding with a stable rule, a line and the fix."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from trainyard.components.config.given_stack import GivenStack
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.findings.finding import NAMED, problem_findings, remark_findings, rule_of
from trainyard.stack_files.stack_files import StackFile

GROUP = "trainyard:cluster.architecture.node_groups"


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("trainyard:cluster.network.vpc_id", "schema/network.vpc_id"),
        (f"{GROUP}.train.efa_enabled", "schema/architecture.node_groups.*.efa_enabled"),
        (f"{GROUP}.train.taints[2].key", "schema/architecture.node_groups.*.taints.*.key"),
        ('trainyard:cluster.tags["cost.center"]', "schema/tags.*"),
        ("trainyard:cluster", "schema/trainyard:cluster"),
        ("aws:region", "schema/aws:region"),
    ],
)
def test_a_rule_is_the_stage_and_the_key_without_names_of_the_user(path: str, rule: str) -> None:
    assert rule_of("schema", path) == rule


def test_the_names_that_are_left_out_are_those_that_the_schema_leaves_free() -> None:
    assert set(mappings(GivenStack, set())) == NAMED


def mappings(model: type[BaseModel], seen: set[type]) -> Iterator[str]:
    """Yield the fields of a model, and of nested models, that map names chosen by the user."""
    if model in seen:
        return
    seen.add(model)
    for name, found in model.model_fields.items():
        for part in parts(found.annotation):
            if typing.get_origin(part) is dict:
                yield name
            elif isinstance(part, type) and issubclass(part, BaseModel):
                yield from mappings(part, seen)


def parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for inner in typing.get_args(annotation):
        yield from parts(inner)


@pytest.fixture
def stack_file(tmp_path: Path) -> StackFile:
    path = tmp_path / "Pulumi.c.yaml"
    path.write_text("config:\n  trainyard:cluster:\n    name: c\n    network: {}\n")
    return StackFile("c", path, {})


def test_a_finding_has_place_words_and_fix_of_its_problem(stack_file: StackFile) -> None:
    problem = Problem(
        path="trainyard:cluster.network.vpc_id", problem="is missing: The VPC", remedy="set it"
    )
    error = ConfigError([problem], stack_file="Pulumi.c.yaml")
    (finding,) = problem_findings(error, stack_file, "schema")
    assert (finding.rule, finding.level, finding.line) == ("schema/network.vpc_id", "error", 4)
    assert finding.message == "trainyard:cluster.network.vpc_id is missing: The VPC; fix: set it"
    assert (finding.file, finding.stack) == (stack_file.path, "c")


def test_notes_and_warnings_stop_nothing(stack_file: StackFile) -> None:
    found = remark_findings(stack_file, notes=["no one uses it"], warnings=["not checked: x"])
    assert [(each.rule, each.level, each.line) for each in found] == [
        ("plan/note", "note", 2),
        ("preflight/warning", "warning", 2),
    ]
