"""A supervised program ends together with all processes that it started."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from tests.support.processes import PATIENCE, spawn, until
from trainyard.sandbox.aws.cloudformation import supervise
from trainyard.sandbox.process_identity import start_time

PROGRAM = """
import signal, subprocess, sys, pathlib, os
for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
path = pathlib.Path(sys.argv[1])
path.with_suffix(".partial").write_text(f"{os.getpid()} {child.pid}")
path.with_suffix(".partial").rename(path)
if len(sys.argv) > 2:
    sys.exit(3)
child.wait()
"""
PARENT = """
import subprocess, sys, os, threading
subprocess.Popen([sys.executable, "-I", "-S", sys.argv[1], str(os.getpid()), *sys.argv[2:]])
threading.Event().wait()
"""


class Family:
    """A supervised program that does not listen, and its child."""

    def __init__(self, directory: Path) -> None:
        self.pids = directory / "pids"
        self.log = directory / "log"
        self.program = [sys.executable, "-c", PROGRAM, str(self.pids)]
        self.started: list[Popen[Any]] = []

    def start(self, *argv: str) -> Popen[Any]:
        process = spawn(argv, name="supervisor", log_path=self.log)
        self.started.append(process)
        until(self.pids.exists, "the program to start")
        return process

    def supervise(self, *more: str) -> Popen[Any]:
        supervisor = (sys.executable, "-I", "-S", supervise.__file__, str(os.getpid()))
        return self.start(*supervisor, *self.program, *more)

    def is_gone(self) -> bool:
        return all(start_time(int(pid)) is None for pid in self.pids.read_text().split())


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Family]:
    made = Family(tmp_path)
    yield made
    for process in made.started:
        process.kill()
        process.wait()


def asked(process: Popen[Any]) -> None:
    process.terminate()


def killed(process: Popen[Any]) -> None:
    process.kill()


def test_it_ends_when_its_supervisor_is_asked_to(family: Family) -> None:
    supervisor = family.supervise()
    assert not family.is_gone()
    supervisor.terminate()
    until(family.is_gone, "program and child to end")
    assert supervisor.wait(PATIENCE) == -signal.SIGKILL


def test_its_children_end_when_it_ends_by_itself(family: Family) -> None:
    family.supervise("end")
    until(family.is_gone, "the child to end")


@pytest.mark.parametrize("end", [asked, killed])
def test_it_ends_with_the_parent_of_its_supervisor(
    family: Family, end: Callable[[Popen[Any]], None]
) -> None:
    parent = family.start(sys.executable, "-c", PARENT, supervise.__file__, *family.program)
    assert not family.is_gone()
    end(parent)
    parent.wait(PATIENCE)
    until(family.is_gone, "program and child to end")
