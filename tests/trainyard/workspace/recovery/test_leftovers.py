"""Only the processes that a killed engine left behind are terminated."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import until
from trainyard.workspace.locks import StackLockedError
from trainyard.workspace.recovery.leftovers import MARK, end_leftovers, marked


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return marked({"PATH": os.defpath}, directory=tmp_path, stack="p5")


class Started:
    """Sleeping processes with a chosen name."""

    def __init__(self) -> None:
        self.all: list[subprocess.Popen[bytes]] = []

    def __call__(self, name: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        made = subprocess.Popen([name, "60"], executable="/bin/sleep", env=environment)
        self.all.append(made)
        # `Popen` returns during the `exec`, when the kernel may not show the environment yet.
        shown = Path(f"/proc/{made.pid}/environ")
        if shown.exists():
            until(lambda: bool(shown.read_bytes()), "the environment of the process")
        return made


@pytest.fixture
def started() -> Iterator[Started]:
    made = Started()
    yield made
    for each in made.all:
        each.kill()
        each.wait()


def test_a_plugin_that_outlived_its_engine_is_ended(
    started: Started, environment: dict[str, str]
) -> None:
    plugin = started("pulumi-resource-aws", environment)
    other = started("pulumi-resource-aws", {**environment, MARK: "/elsewhere:p5"})
    assert end_leftovers(environment, stack="p5") == [plugin.pid]
    assert plugin.wait() < 0
    assert other.poll() is None


def test_an_engine_that_runs_is_respected_with_all_that_is_its(
    started: Started, environment: dict[str, str]
) -> None:
    engine = started("/opt/pulumi", environment)
    plugin = started("pulumi-resource-aws", environment)
    with pytest.raises(StackLockedError, match=f"kill -INT {engine.pid}"):
        end_leftovers(environment, stack="p5")
    assert plugin.poll() is None


def test_an_environment_without_a_mark_has_no_leftovers() -> None:
    assert end_leftovers({"PATH": os.defpath}, stack="p5") == []


def test_two_stacks_of_a_project_have_two_marks(tmp_path: Path) -> None:
    marks = {marked({}, directory=tmp_path, stack=name)[MARK] for name in ("p5", "p5-cb")}
    assert len(marks) == 2
