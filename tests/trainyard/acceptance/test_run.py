"""The command of a step: its log, its time, and how it is interrupted. Real processes."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.support.processes import until
from trainyard.acceptance import ANSWER_SHAPES, ANSWERS
from trainyard.acceptance.run import InterruptedRunError, run_step
from trainyard.acceptance.steps import Done, Interruption, Step
from trainyard.components import clock

STEP = Step(name="up again", arguments=("up", "dev", "--yes"), proves="nothing changes")
SAYS = "import sys; print('arguments:', *sys.argv[1:]); print('Resources: 0 changed')"
WAITS = """
import signal, sys
try:
    print("waiting", flush=True)
    signal.pause()
except KeyboardInterrupt:
    print("ended in order", flush=True)
"""
IGNORES_INTERRUPTS = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("waiting", flush=True)
while True:
    signal.pause()
"""
ENDS_ITS_PARENT = """
import os, signal
try:
    os.kill(os.getppid(), signal.{name})
    signal.pause()
except KeyboardInterrupt:
    print("ended in order", flush=True)
"""


def ran(
    directory: Path,
    script: str,
    *,
    ends: datetime | None = None,
    step: Step = STEP,
    stop_seconds: tuple[float, ...] = (60, 60),
) -> Done:
    program = (sys.executable, "-c", script)
    options = ("--sandbox",)
    return run_step(step, options, directory, ends, program=program, stop_seconds=stop_seconds)


INTERRUPTED = """
import pathlib, sys, time
ended = pathlib.Path({ended!r})
if sys.argv[1] == "cancel":
    print("cancelled", *sys.argv[2:], flush=True)
    ended.touch()
    sys.exit({exit_code})
print("step 1", flush=True)
while not ended.exists():
    time.sleep(0.01)
print("stopped", flush=True)
sys.exit(143)
"""


def log(directory: Path) -> list[str]:
    return (directory / "up-again.log").read_text(encoding="utf-8").splitlines()


def test_the_output_of_a_command_is_its_log(tmp_path: Path) -> None:
    done = ran(tmp_path, SAYS)
    assert (done.name, done.result, done.reason) == ("up again", "pass", "")
    assert log(tmp_path) == ["arguments: up --sandbox dev --yes", "Resources: 0 changed"]


def test_a_command_records_the_shapes_of_answers_in_the_directory(tmp_path: Path) -> None:
    ran(tmp_path, f"import os; print(os.environ[{ANSWER_SHAPES!r}])")
    assert log(tmp_path) == [str(tmp_path / ANSWERS)]


def test_a_command_is_judged_by_all_that_it_said_also_without_space_for_its_log(
    tmp_path: Path,
) -> None:
    (tmp_path / "up-again.log").symlink_to("/dev/full")
    says = Step(name="up again", arguments=("up",), proves="", says="Resources: 0 changed")
    unsaid = ran(tmp_path, SAYS, step=says)
    assert unsaid.reason == "its log could not be written: No space left on device"
    assert ran(tmp_path, SAYS, step=dataclasses.replace(says, cleans=True)).result == "pass"
    changes = Step(name="up again", arguments=("up",), proves="", unchanged=True)
    filled = "print('x' * 100_000); print('created aws:eks:Cluster c')"
    assert ran(tmp_path, filled, step=changes).result == "fail"
    assert ran(tmp_path / "none", "raise SystemExit(3)").reason.startswith("exit code 3")


@pytest.mark.parametrize(("exit_code", "result"), [(0, "pass"), (1, "fail")])
def test_another_command_ends_that_of_a_step_in_the_middle(
    tmp_path: Path, exit_code: int, result: str
) -> None:
    ends = Interruption(after=r"step \d", arguments=("cancel", "dev", "train"))
    step = Step(name="up again", arguments=("run", "dev"), proves="it ends", interruption=ends)
    script = INTERRUPTED.format(ended=str(tmp_path / "ended"), exit_code=exit_code)
    assert ran(tmp_path, script, step=step).result == result
    assert log(tmp_path) == ["step 1", "cancelled --sandbox dev train", "stopped"]


@pytest.fixture
def an_hour_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The account's clock goes on by more than an hour as soon as the command waits."""

    def waits() -> bool:
        path = tmp_path / "up-again.log"
        return path.is_file() and "waiting" in path.read_text(encoding="utf-8")

    def pass_an_hour() -> None:
        until(waits, "the command to wait")
        monkeypatch.setenv(clock.VARIABLE, "3700")

    thread = threading.Thread(target=pass_an_hour)
    thread.start()
    yield
    thread.join()


@pytest.mark.usefixtures("an_hour_passes")
def test_a_command_is_interrupted_when_its_time_is_over(tmp_path: Path) -> None:
    """Also if the time passed while the machine slept."""
    done = ran(tmp_path, WAITS, ends=clock.now() + timedelta(hours=1))
    assert (done.result, done.reason) == ("stopped", "the time limit was reached")
    assert done.seconds < 3600
    assert log(tmp_path)[-1] == "ended in order"


@pytest.mark.usefixtures("an_hour_passes")
def test_a_command_that_ignores_interrupts_is_killed(tmp_path: Path) -> None:
    ends = clock.now() + timedelta(hours=1)
    done = ran(tmp_path, IGNORES_INTERRUPTS, ends=ends, stop_seconds=(0.1, 0.1))
    assert done.result == "stopped"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_command_ends_in_order_when_this_process_is_asked_to_end(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InterruptedRunError):
        ran(tmp_path, ENDS_ITS_PARENT.format(name=name))
    assert log(tmp_path)[-1] == "ended in order"
