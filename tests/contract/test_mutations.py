"""The mutations of `python -m tools.mutations` fit the code and the tests as they are now."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.support.tracked import ROOT
from tools.mutations import Mutation, mutations


def test_every_mutation_applies_once_parses_and_names_tests_that_exist() -> None:
    assert not [problem for each in mutations() for problem in each.problems(ROOT)]


def test_every_mutation_has_a_name_of_its_own() -> None:
    """TOML refuses a second row of a name only within one table."""
    assert not [name for name, rows in Counter(m.name for m in mutations()).items() if rows > 1]


def outdated(tmp_path: Path, **changed: object) -> list[str]:
    (tmp_path / "test_it.py").write_text("def test_one():\n    pass\n")
    (tmp_path / "code.py").write_text("if a:\n    b()\n    b()\n")
    row = {"file": "code.py", "old": "if a", "new": "if not a", "killed_by": ("test_it.py",)}
    row |= {"name": "one", "table": "code.toml", "noticed": "It fails."}
    return [*Mutation(**{**row, **changed}).problems(tmp_path)]


def test_a_row_that_fits_has_no_problem(tmp_path: Path) -> None:
    assert outdated(tmp_path) == []
    assert outdated(tmp_path, killed_by=("test_it.py::test_one[a-b]",)) == []


def test_a_problem_names_the_row_and_its_table(tmp_path: Path) -> None:
    assert outdated(tmp_path, old="if c") == [
        "one: `old` occurs 0 times in code.py, not once; correct its row in code.toml"
    ]
    assert outdated(tmp_path, old="b()") == [
        "one: `old` occurs 2 times in code.py, not once; correct its row in code.toml"
    ]
    assert outdated(tmp_path, file="gone.py") == [
        "one: gone.py does not exist; correct its row in code.toml"
    ]
    assert outdated(tmp_path, new="if if") == [
        "one: with `new`, code.py has a syntax error; correct its row in code.toml"
    ]
    for test in ("test_gone.py", "test_it.py::test_two"):
        assert outdated(tmp_path, killed_by=(test,)) == [
            f"one: `killed_by` names {test}, which does not exist; correct its row in code.toml"
        ]


def test_a_shell_script_is_parsed_by_the_shell(tmp_path: Path) -> None:
    (tmp_path / "start").write_text("if true; then exit; fi\n")
    assert outdated(tmp_path, file="start", old="true", new="false") == []
    assert outdated(tmp_path, file="start", old="; fi", new="") == [
        "one: with `new`, start has a syntax error; correct its row in code.toml"
    ]
