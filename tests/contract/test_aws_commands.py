"""Commands of the AWS CLI in the documents have operations and parameters of the API."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import pytest
from botocore import xform_name

from tests.support.code_blocks import CodeBlock, code_blocks

SESSION = botocore.session.Session()
BLOCKS = [block for block in code_blocks(Path("docs/capacity.md")) if block.text.startswith("aws ")]


def aws_commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command."""
    yield from (shlex.split(line) for line in text.replace("\\\n", " ").splitlines())


def problem_of(words: list[str]) -> str:
    """Return why the API does not take a command; empty if it does."""
    _, service, operation, *rest = words
    model = SESSION.get_service_model(service)
    operations = {xform_name(each, "-"): each for each in model.operation_names}
    if operation not in operations:
        return f"no operation {operation}"
    shape = model.operation_model(operations[operation]).input_shape
    assert shape is not None
    options = {f"--{xform_name(each, '-')}" for each in shape.members}
    required = {f"--{xform_name(each, '-')}" for each in shape.required_members}
    given = {word for word in rest if word.startswith("--")}
    unknown, missing = sorted(given - options), sorted(required - given)
    return f"unknown {unknown}, missing {missing}" if unknown or missing else ""


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.path}:{block.line}")
def test_aws_commands_have_the_parameters_of_the_api(block: CodeBlock) -> None:
    problems = {" ".join(each): problem_of(each) for each in aws_commands(block.text)}
    assert problems
    assert not {command: why for command, why in problems.items() if why}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("aws ec2 split-capacity-reservation", "no operation"),
        ("aws ec2 cancel-capacity-reservation --id cr-1", "unknown ['--id'], missing"),
    ],
)
def test_commands_that_the_api_does_not_take_are_found(command: str, why: str) -> None:
    assert problem_of(command.split()).startswith(why)
