"""`test` runs its checks in parallel, and its tests in one process for each processor."""

import contextlib
import os
from types import SimpleNamespace

import pytest
import typer

from components.config.pulumi_command import LAUNCHER
from tools.cli import suite


@pytest.mark.parametrize(
    ("processors", "unit", "whole"), [(1, 1, 2), (2, 2, 4), (4, 4, 4), (64, 4, 4), (None, 1, 2)]
)
def test_every_processor_has_a_process_and_two_for_whole_stacks_but_never_more_than_four(
    monkeypatch, processors, unit, whole
):
    ran = []
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(suite, "STATIC_CHECKS", ())
    monkeypatch.setattr(suite, "_get_programs", lambda: None)
    monkeypatch.setattr(suite, "_passes_tests", lambda arguments: ran.append(arguments) or True)
    suite.test(SimpleNamespace(args=[]))
    assert [arguments[:2] for arguments in ran] == [["-n", str(unit)], ["-n", str(whole)]]
    assert all("--no-loadscope-reorder" in arguments for arguments in ran)


def test_a_check_that_fails_is_named_when_all_have_run(capsys, monkeypatch):
    checks = (("bad", ["ruff", "check", "no-such-file.py"]), ("good", ["ruff", "--version"]))
    monkeypatch.setattr(suite, "STATIC_CHECKS", checks)
    with suite._checks_in_background() as failed_checks:
        assert failed_checks() == ["bad"]
    shown = capsys.readouterr()
    assert "ruff --version: ok" in shown.err
    assert "no-such-file.py: failed" in shown.err
    assert "no-such-file.py" in shown.out


@pytest.mark.parametrize("fails", ["checks", "unit tests", "whole stacks", "nothing"])
def test_everything_runs_whatever_fails_and_what_needs_no_program_runs_first(monkeypatch, fails):
    ran = []

    def tests(arguments):
        name = "unit tests" if arguments[-1] == suite.UNIT else "whole stacks"
        ran.append(name)
        return name != fails

    check = ["ruff", "check", "no-such-file.py"] if fails == "checks" else ["ruff", "--version"]
    monkeypatch.setattr(suite, "STATIC_CHECKS", (("types", check),))
    monkeypatch.setattr(suite, "_passes_tests", tests)
    monkeypatch.setattr(suite, "_get_programs", lambda: ran.append("programs"))
    with contextlib.nullcontext() if fails == "nothing" else pytest.raises(typer.Exit):
        suite.test(SimpleNamespace(args=[]))
    assert ran == ["unit tests", "programs", "whole stacks"]


def test_tests_see_the_messages_of_a_user_who_starts_pytest(monkeypatch):
    monkeypatch.setenv(LAUNCHER, "./trainyard")
    monkeypatch.setenv("HOME", "/home/me")
    environment = suite._environment()
    assert LAUNCHER not in environment
    assert environment["HOME"] == "/home/me"
