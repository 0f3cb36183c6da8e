"""Commands of the AWS CLI in documents and messages have operations and parameters of the API."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from tests.contract.support.code_blocks import code_blocks
from tests.support.tracked import ROOT, tracked

SESSION = botocore.session.Session()
COMMAND = re.compile(
    r"(?<![.\w])aws ([a-z0-9]+(?:-[a-z0-9]+)*) ([a-z]+(?:-[a-z]+)*)(?![-\w])([^`]*)"
)
OPTION = re.compile(r"(?<!\S)--([a-z][a-z-]*[a-z])")
OF_THE_CLI = {"cli-input-json", "output", "profile", "query", "region"}
"""https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-options.html"""
NO_OPERATIONS = {
    ("cloudformation", "deploy"),
    ("configure", "sso"),
    ("ecr", "get-login-password"),
    ("eks", "get-token"),
    ("eks", "update-kubeconfig"),
    ("logs", "tail"),
    ("s3", "cp"),
    ("s3", "mb"),
    ("sso", "login"),
}
"""Commands of the CLI that are not operations of an API.
https://docs.aws.amazon.com/cli/latest/reference/"""
OWN_OPTIONS = {
    ("ec2", "authorize-security-group-ingress"): {"cidr", "port", "protocol"},
    ("eks", "update-cluster-version"): {"kubernetes-version"},
    ("eks", "update-nodegroup-version"): {"kubernetes-version"},
    ("sns", "subscribe"): {"notification-endpoint"},
}
"""Options that the CLI adds to those of an API, or renames.
https://github.com/aws/aws-cli/tree/develop/awscli/customizations, `argrename.py` and `ec2/`"""


@cache
def service(name: str) -> Any:
    return SESSION.get_service_model(name)


def problem_of(name: str, operation: str, rest: str, *, whole: bool) -> str:
    """Return why the CLI does not take a command; empty if it does.

    Args:
        name: Of the service.
        operation: As the CLI writes it.
        rest: Its arguments, and text behind it.
        whole: Whether it has all its arguments.
    """
    if (name, operation) in NO_OPERATIONS:
        return ""
    name = "s3" if name == "s3api" else name
    if name not in SESSION.get_available_services():
        return f"no service {name}"
    if operation == "wait":
        waiters = SESSION.get_waiter_model(name).waiter_names
        waiter = rest.split()[0]
        known = waiter in {xform_name(each, "-") for each in waiters}
        return "" if known else f"no waiter {waiter}"
    operations = {xform_name(each, "-"): each for each in service(name).operation_names}
    if operation not in operations:
        return f"no operation {operation}"
    shape = service(name).operation_model(operations[operation]).input_shape
    members = {} if shape is None else shape.members
    options = {xform_name(each, "-") for each in members}
    given = {each.removeprefix("no-") for each in OPTION.findall(rest)}
    own = OWN_OPTIONS.get((name, operation), set[str]())
    unknown = sorted(given - options - own - OF_THE_CLI)
    required = {xform_name(each, "-") for each in ([] if shape is None else shape.required_members)}
    missing = sorted(required - given) if whole and "cli-input-json" not in given else []
    return f"unknown {unknown}, missing {missing}" if unknown or missing else ""


def in_documents() -> Iterator[tuple[str, str, bool]]:
    """Yield place, text, and whether commands in it are whole."""
    for path in tracked(".md"):
        for block in code_blocks(path):
            for line in block.text.replace("\\\n", " ").splitlines():
                yield f"{path}:{block.line}", line, line.startswith("aws ")
        for span in re.findall(r"`(aws [^`]+)`", (ROOT / path).read_text(encoding="utf-8")):
            yield str(path), " ".join(span.split()), False


def in_messages() -> Iterator[tuple[str, str, bool]]:
    """Yield place and text of every string of the program, with a word for what it fills in."""
    for path in tracked(".py"):
        content = (ROOT / path).read_text(encoding="utf-8")
        if path.parts[0] in ("components", "policies", "src", "tools") and "aws " in content:
            for node in ast.walk(ast.parse(content)):
                yield f"{path}:{getattr(node, 'lineno', 0)}", text_of(node), False


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(each) or "X" for each in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def commands() -> list[Any]:
    found = {
        (place, *match.groups()): whole
        for place, text, whole in (*in_documents(), *in_messages())
        for match in COMMAND.finditer(text)
    }
    return [
        pytest.param(name, operation, rest, whole, id=f"{place} {name} {operation}")
        for (place, name, operation, rest), whole in found.items()
    ]


@pytest.mark.parametrize(("name", "operation", "rest", "whole"), commands())
def test_aws_commands_have_the_parameters_of_the_api(
    name: str, operation: str, rest: str, whole: bool
) -> None:
    assert problem_of(name, operation, rest, whole=whole) == ""


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("aws ec3 describe-instances", "no service"),
        ("aws ec2 split-capacity-reservation", "no operation"),
        ("aws ec2 cancel-capacity-reservation --id cr-1", "unknown ['id'], missing"),
        ("aws cloudformation wait stack-gone", "no waiter"),
    ],
)
def test_commands_that_the_api_does_not_take_are_found(command: str, why: str) -> None:
    match = COMMAND.match(command)
    assert match is not None
    assert problem_of(*match.groups(), whole=True).startswith(why)
