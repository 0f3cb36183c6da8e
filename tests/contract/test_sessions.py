"""One module makes the sessions of boto3, so that all of them reach the account of the stack."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.tracked import ROOT

FOLDERS = ("components", "policies", "src/trainyard")
MAKES_SESSIONS = {
    "components/account/session.py": "the only one of the program and the command line",
    "policies/pack/lookup.py": (
        "packs run without the components, and leave out providers of another account"
    ),
}
READS_MODELS = {
    "src/trainyard/acceptance/answers.py",
    "src/trainyard/acceptance/shapes.py",
    "src/trainyard/importing/live/answers.py",
}
"""Use `botocore.session` for the models of the services, and make no client."""
SESSIONS = ("boto3", "botocore.session")


def modules() -> Iterator[Path]:
    """Yield the modules; parts of the package in `src` are links to the others."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if path.resolve() == path:
                yield path


def imported(source: str) -> Iterator[str]:
    """Yield the names of modules that a source imports, also inside of functions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{each.name}" for each in node.names)


def makes_sessions(source: str) -> bool:
    return any(f"{name}.".startswith(f"{made}.") for name in imported(source) for made in SESSIONS)


def test_no_other_module_makes_a_session() -> None:
    found = {
        str(path.relative_to(ROOT))
        for path in modules()
        if makes_sessions(path.read_text(encoding="utf-8"))
    }
    assert found == MAKES_SESSIONS.keys() | READS_MODELS


@pytest.mark.parametrize("path", sorted(READS_MODELS))
def test_modules_that_read_models_make_no_client(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {"create_client", "get_credentials"} & called
    assert "boto3" not in imported((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "source",
    [
        "import boto3",
        "from boto3 import client",
        "import botocore.session",
        "from botocore import session",
        "from botocore.session import Session",
        "def f():\n    import boto3 as b",
    ],
)
def test_each_way_to_import_a_maker_of_sessions_is_seen(source: str) -> None:
    assert makes_sessions(source)


def test_exceptions_and_configurations_of_botocore_are_no_sessions() -> None:
    assert not makes_sessions("from botocore.exceptions import ClientError\nimport botocore.config")


def test_readers_are_those_of_an_account_or_of_a_target() -> None:
    """`AccountReader(region=…)` alone would read with what the environment has."""
    made = [
        str(path.relative_to(ROOT))
        for path in modules()
        if any(map(_is_bare_reader, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    ]
    assert made == []


def _is_bare_reader(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("AccountReader", "LookupAccount", "AccountSession")
        and not any(each.arg == "settings" for each in node.keywords)
        and len(node.args) < 1 + (node.func.id == "LookupAccount")
    )
