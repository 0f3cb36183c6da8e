"""`test` runs its checks side by side, and its tests on a process for each processor."""

import os

import pytest

from tools.cli import suite


@pytest.mark.parametrize(("processors", "processes"), [(1, 1), (2, 2), (4, 4), (64, 4), (None, 1)])
def test_every_processor_has_a_process_and_there_are_at_most_four(
    monkeypatch, processors, processes
):
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    arguments = suite._side_by_side()
    assert arguments[:2] == ["-n", str(processes)]
    assert "--no-loadscope-reorder" in arguments


def test_a_check_that_fails_is_named_when_all_have_run(monkeypatch):
    ran = []
    monkeypatch.setattr(suite, "STATIC_CHECKS", (("good", ["good"]), ("bad", ["bad"])))
    monkeypatch.setattr(
        suite, "_passes", lambda command: ran.append(command) or command == ["good"]
    )
    assert suite._failed_checks(beside=lambda: ran.append(["beside"])) == ["bad"]
    assert sorted(ran) == [["bad"], ["beside"], ["good"]]


def test_a_check_says_what_it_found(capsys):
    assert suite._passes(["ruff", "--version"])
    assert not suite._passes(["ruff", "check", "no-such-file.py"])
    shown = capsys.readouterr()
    assert "ruff --version: ok" in shown.err
    assert "no-such-file.py: failed" in shown.err
    assert "no-such-file.py" in shown.out
