"""Mutations of a checkout with one function and its test."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.tracked import ROOT
from tools.mutations import Mutation
from tools.mutations.__main__ import FailingTestsError, Verdict, verdicts

CODE = """def larger(a, b):
    # The larger of two numbers.
    return a if a > b else b
"""
TEST = """from code_of_it import larger

def test_the_second_is_larger():
    assert larger(1, 2) == 2
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "code_of_it.py").write_text(CODE)
    (root / "test_it.py").write_text(TEST)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    (root / ".venv").symlink_to((ROOT / ".venv").resolve())
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    (root / ".git" / "info" / "exclude").write_text(".venv\n")
    return root


def mutation(old: str, new: str, test: str = "test_it.py") -> Mutation:
    return Mutation(
        name="larger",
        table="code.toml",
        file="code_of_it.py",
        old=old,
        new=new,
        noticed="The smaller number is returned.",
        killed_by=(test,),
    )


def verdict(checkout: Path, *changes: str) -> Verdict:
    (found,) = verdicts([mutation(*changes)], checkout, processes=1, verified=False)
    return found


def test_a_change_that_a_test_notices_is_killed_by_it(checkout: Path) -> None:
    found = verdict(checkout, "a > b", "a < b")
    assert (found.word, found.detail) == ("killed", "test_it.py::test_the_second_is_larger")
    assert (checkout / "code_of_it.py").read_text() == CODE


def test_a_change_that_no_test_notices_survives_with_what_a_user_would_notice(
    checkout: Path,
) -> None:
    found = verdict(checkout, "else b", "else 2")
    assert found.word == "SURVIVED"
    assert found.detail.startswith("The smaller number is returned. No test of `killed_by`")


def test_a_change_that_no_longer_applies_is_outdated(checkout: Path) -> None:
    found = verdict(checkout, "a >= b", "a < b")
    assert (found.word, found.detail) == (
        "OUTDATED",
        "larger: `old` occurs 0 times in code_of_it.py, not once; correct its row in code.toml",
    )


def test_an_error_outside_of_the_test_is_not_taken_for_its_failure(checkout: Path) -> None:
    """Such as a sandbox that does not start on a busy machine."""
    found = verdict(checkout, "    return a if a > b", "    return a if a > ")
    assert found.word == "UNCLEAR"
    assert found.detail.startswith("no test failed: ")


def test_one_copy_serves_several_changes(checkout: Path) -> None:
    changes = [mutation("a > b", "a < b"), mutation("else b", "else 2")]
    found = verdicts(changes, checkout, processes=1, verified=True)
    assert [each.word for each in found] == ["killed", "SURVIVED"]


def test_tests_that_fail_without_a_change_prove_nothing(checkout: Path) -> None:
    (checkout / "test_it.py").write_text(TEST.replace("== 2", "== 3"))
    with pytest.raises(FailingTestsError, match=r"test_it\.py fails without a mutation"):
        list(verdicts([mutation("a > b", "a < b")], checkout, processes=1, verified=True))
