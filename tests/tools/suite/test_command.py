"""`test` runs its checks at the same time as its tests, and all steps whatever fails."""

from types import SimpleNamespace

import pytest

from tools import suite as steps
from tools import test as suite
from tools.suite import LEFT_OUT, LIVES, SLOWEST_FIRST, UNMARKED, Check, Step
from trainyard.cli import failures
from trainyard.components.typed_command import LAUNCHER

FAILS = Check("bad", ("ruff", "check", "no-such-file.py"))
PASSES = Check("good", ("ruff", "--version"))


@pytest.mark.parametrize(("processors", "unit", "whole"), [(1, 1, 2), (2, 2, 4), (64, 4, 4)])
def test_every_processor_has_a_process_and_two_for_whole_stacks_but_never_more_than_four(
    processors, unit, whole
):
    arguments = [step.pytest for step in steps.everything(processors)]
    assert [each[:2] for each in arguments] == [("-n", str(unit)), ("-n", str(whole))]
    assert all("--no-loadscope-reorder" in each for each in arguments)


def test_the_quick_answer_is_all_checks_the_unit_tests_and_a_life_of_each_architecture():
    unit, lives = steps.quick(2)
    assert {check.name for check in unit.checks} == {
        "ruff check",
        "ruff format",
        "types",
        "import contracts",
    }
    assert unit.get_programs is None
    assert {each for each in unit.pytest if each.startswith("--ignore")} == {
        f"--ignore=tests/{directory}" for directory in LEFT_OUT
    }
    assert LIVES in lives.pytest


def test_a_check_that_fails_is_named_when_all_have_run(capsys):
    assert not suite.run([Step(name="style", checks=(FAILS, PASSES))])
    shown = capsys.readouterr()
    assert "ruff --version: ok" in shown.err
    assert "no-such-file.py: failed" in shown.err
    assert "bad failed" in shown.err
    assert "no-such-file.py" in shown.out


@pytest.mark.parametrize("fails", ["checks", "unit", "whole", ""])
def test_everything_runs_whatever_fails_and_programs_come_before_the_tests_that_need_them(fails):
    ran = []

    def run_tests(arguments):
        ran.extend(arguments)
        return 1 if fails in arguments else 0

    todo = [
        Step(name="first", checks=(FAILS if fails == "checks" else PASSES,), pytest=("unit",)),
        Step(name="last", pytest=("whole",), get_programs=lambda _: ran.append("programs")),
    ]
    assert suite.run(todo, run_tests) == (not fails)
    assert ran == ["unit", "programs", "whole"]


@pytest.mark.parametrize(("can_be_empty", "passed"), [(True, True), (False, False)])
def test_a_step_without_a_test_passes_only_if_it_is_a_part_of_a_selection(can_be_empty, passed):
    step = Step(name="unit tests", pytest=("nothing",), can_be_empty=can_be_empty)
    assert suite.run([step], lambda _: pytest.ExitCode.NO_TESTS_COLLECTED) == passed


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["capacity"], ("tests/capacity",)),
        (["components/capacity/", "-x"], ("tests/capacity", "-x")),
        (["src/trainyard/cli/capacity"], ("tests/trainyard/cli/capacity",)),
        (["tests/test_order.py", "-k", "first"], ("tests/test_order.py", "-k", "first")),
        (["test_order.py"], ("tests/test_order.py",)),
        (["changes/test_page.py", "-x"], ("tests/changes/test_page.py", "-x")),
        (["components/capacity/test_purchase.py"], ("tests/capacity/test_purchase.py",)),
        (["test_order.py::test_a[b/c]"], ("tests/test_order.py::test_a[b/c]",)),
        (["no/test_such.py::test_a"], ("no/test_such.py::test_a",)),
    ],
)
def test_a_part_is_a_directory_or_a_file_with_or_without_the_folder_of_all_tests(
    arguments, expected
):
    (step,) = suite._named(arguments, 2)
    assert step.pytest == expected


def test_named_parts_and_files_run_one_after_the_other():
    assert [step.name for step in suite._named(["style", "lives", "capacity"], 2)] == [
        "style",
        "a life of EKS, Slurm and Batch",
        "tests",
    ]


def of_files(root, files):
    """Return the steps of test files, given with their texts, and the files of each."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    found = list(steps.of_files([*files], 2, root))
    return found, [[each for each in step.pytest if each in files] for step in found]


def test_a_selection_runs_tests_without_a_marker_before_those_that_need_programs(tmp_path):
    texts = {
        "tests/stacks/test_a.py": "@pytest.mark.sandbox",
        "tests/faults/test_b.py": "",
        "tests/capacity/test_c.py": "",
        "tests/eks/test_d.py": "@pytest.mark.engine",
    }
    stack, whole, unit, mixed = texts
    (unmarked, marked), named = of_files(tmp_path, texts)
    assert named == [[whole, unit, mixed], [stack, mixed]]
    assert (unmarked.get_programs, unmarked.can_be_empty) == (None, True)
    assert unmarked.pytest[-1] == UNMARKED
    assert marked.pytest[-1] == "not unit"


def test_only_the_programs_of_the_markers_in_a_selection_are_made(tmp_path):
    (step,) = of_files(tmp_path, {"tests/faults/test_a.py": "pytest.mark.kubernetes"})[0]
    assert step.get_programs.args == ({"kubernetes"},)
    assert steps.PROGRAMS.keys() == {*SLOWEST_FIRST}


@pytest.mark.parametrize(("count", "processes"), [(2, "2"), (9, "4")])
def test_files_that_need_programs_have_no_more_processes_than_files(tmp_path, count, processes):
    texts = {f"tests/faults/test_{number}.py": "pytest.mark.engine" for number in range(count)}
    (step,) = of_files(tmp_path, texts)[0]
    assert step.pytest[:2] == ("-n", processes)


def test_a_revision_that_git_does_not_know_is_wrong_use():
    with pytest.raises(failures.WrongUseError, match="no-such-revision"):
        suite._since("no-such-revision", 2)


def test_all_and_parts_exclude_each_other():
    with pytest.raises(failures.WrongUseError):
        suite.test(SimpleNamespace(args=["capacity"]), everything=True)


def test_tests_see_the_messages_of_a_user_who_starts_pytest(monkeypatch):
    monkeypatch.setenv(LAUNCHER, "./trainyard")
    monkeypatch.setenv("HOME", "/home/me")
    environment = suite.environment()
    assert LAUNCHER not in environment
    assert environment["HOME"] == "/home/me"
