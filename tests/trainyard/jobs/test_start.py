"""The script that starts the program of a node, in a real Bash."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import PATIENCE
from trainyard.jobs.start import (
    LIMIT_SECONDS,
    STOP_TIME,
    limit_environment,
    limit_of_mpi,
    start_command,
)
from trainyard.jobs.training import TrainingRequest

BASH = shutil.which("bash") or "bash"
WAITS = "while :; do read -t 0.1 <> <(:); done"
SAVES = f"trap 'echo saved; exit 3' TERM; echo begin; {WAITS}"
ENDED = "the program has been ended at its time limit\n"


def request(*command: str, **changes: Any) -> TrainingRequest:
    return TrainingRequest(command=command, **{"launcher": "none", **changes})


def start(asked: TrainingRequest, **environment: str) -> subprocess.Popen[str]:
    """Start the program of a node, in an image without any other program."""
    _, *words = start_command(asked)
    return subprocess.Popen(
        [BASH, *words],
        env={"PATH": "/nothing", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(asked: TrainingRequest, **environment: str) -> tuple[int, str, str]:
    with start(asked, **environment) as process:
        said, told = process.communicate(timeout=PATIENCE)
    return process.returncode, said, told


@pytest.mark.parametrize("limit", [{}, {LIMIT_SECONDS: "5400"}], ids=["endless", "limited"])
@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("exit 127", 127), ("kill -TERM $$", 143), ("kill -9 $$", 137)],
)
def test_a_node_has_the_exit_code_of_its_program_and_adds_nothing(
    script: str, code: int, limit: dict[str, str]
) -> None:
    asked = request(BASH, "-c", f"echo run; {script}")
    assert ended(asked, **limit) == (code, "run\n", "")


def test_sigterm_reaches_the_program_and_its_children() -> None:
    """A shell script notices a signal only when its child has ended."""
    child = f"{BASH} -c {shlex.quote(SAVES)}"
    with start(request(BASH, "-c", f"trap : TERM; {child}")) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        process.send_signal(signal.SIGTERM)
        said, told = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said, told) == (3, "saved\n", "")


@pytest.mark.parametrize("limit", [{}, {LIMIT_SECONDS: "5400"}], ids=["endless", "limited"])
def test_the_exit_code_of_a_program_that_ends_while_a_signal_comes_is_not_lost(
    limit: dict[str, str],
) -> None:
    """Several times, because it depends on the order in which the kernel delivers the signals."""
    for _ in range(40):
        with start(request(BASH, "-c", f"echo $BASHPID; {WAITS}"), **limit) as process:
            assert process.stdout is not None
            program = int(process.stdout.readline())
            # To all processes, as Slurm sends it without cgroups.
            os.kill(program, signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
            said, told = process.communicate(timeout=PATIENCE)
        assert (process.returncode, said, told) == (143, "", "")


def test_the_exit_code_is_read_at_whatever_moment_the_program_ends() -> None:
    """The script looks every second whether the program still runs."""
    moments = [0.98 + each / 2000 for each in range(60)]
    with ExitStack() as stack:
        running = [
            stack.enter_context(start(request(BASH, "-c", f"read -t {each} <> <(:); exit 7")))
            for each in moments
        ]
        assert [each.wait(PATIENCE) for each in running] == [7] * len(moments)


@pytest.mark.parametrize(
    ("limit", "left"), [(1, None), (5400, 2), (1, 5400)], ids=["limit", "nodes leave", "both"]
)
def test_the_program_gets_sigterm_at_the_earlier_of_its_limits(
    limit: int, left: int | None
) -> None:
    limits = {LIMIT_SECONDS: str(limit)}
    if left is not None:
        limits[STOP_TIME] = str(int(time.time()) + left)
    assert ended(request(BASH, "-c", SAVES), **limits) == (124, "begin\nsaved\n", ENDED)


def test_a_program_that_has_waited_too_long_is_not_started() -> None:
    limits = {LIMIT_SECONDS: "5400", STOP_TIME: "1000"}
    code, said, told = ended(request(BASH, "-c", SAVES), **limits)
    assert (code, said) == (124, "")
    assert "the nodes of the Capacity Block leave" in told


def test_a_program_that_another_node_ends_at_its_limit_is_not_an_error() -> None:
    """The limit of the other node has begun earlier, with the start of its own program."""
    asked = request(BASH, "-c", "read -t 3 <> <(:); exit 1")
    assert ended(asked, **{LIMIT_SECONDS: "4"}) == (124, "", ENDED)


def test_a_command_has_a_limit_only_if_the_job_has_one() -> None:
    assert limit_of_mpi(request("true")) == ("", "")
    asked = request("true", time_limit_minutes=1, stops_at=datetime.fromtimestamp(1000, UTC))
    words = "".join([*limit_of_mpi(asked), f"{BASH} -c 'echo run'"])
    variables = limit_environment(asked)
    assert variables == {LIMIT_SECONDS: "60", STOP_TIME: "1000"}
    path = {"PATH": os.environ["PATH"]}
    for env, said in ((path | {LIMIT_SECONDS: "60"}, "run\n"), (path | variables, "")):
        done = subprocess.run(
            [BASH, "-c", words], env=env, capture_output=True, text=True, check=False
        )
        assert done.stdout == said


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("#!{python}\n# -*- coding: utf-8 -*-\n", "4 -c"),
        ("#!{python} -u\n", "5 -u"),
        ("#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n", "4 -c"),
        ("#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n", "4 -c"),
    ],
    ids=["path", "option", "path with spaces", "long path"],
)
def test_torchrun_runs_in_its_own_python(tmp_path: Path, head: str, words: str) -> None:
    """The first lines of a script that pip, uv or conda installs."""
    python = tmp_path / ("a python3" if '"{python}"' in head else "python3")
    python.write_text(f'#!{BASH}\nprintf "%s\\n" "$# $1" "${{@: -2}}"\n', encoding="utf-8")
    script = tmp_path / "torchrun"
    script.write_text(head.format(python=python) + "import sys\n", encoding="utf-8")
    for each in (python, script):
        each.chmod(0o755)
    asked = request("train.py", "a b", launcher="torchrun")
    code, said, told = ended(asked, PATH=str(tmp_path))
    assert (code, told) == (0, "")
    assert said.splitlines() == [words, "train.py", "a b"]


@pytest.mark.parametrize(
    "head",
    [
        "#!{bash}\n",
        '#!/bin/sh\nexec {bash} -c \'echo "$@"\' x "$@"\n',
        '#!/bin/sh\nexec {bash} -c \'echo "$@"\' python "$@"\n',
    ],
)
def test_another_torchrun_runs_as_it_is(tmp_path: Path, head: str) -> None:
    script = tmp_path / "torchrun"
    script.write_text(head.format(bash=BASH) + 'echo "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    asked = request("train.py", "a b", launcher="torchrun")
    assert ended(asked, PATH=str(tmp_path)) == (0, "train.py a b\n", "")


def test_kubernetes_leaves_the_script_as_it_is() -> None:
    """It expands `$(VARIABLE)` of a command if there is such a variable, and halves `$$`.

    https://github.com/kubernetes/kubernetes/blob/v1.36.4/third_party/forked/golang/expansion
    """
    script = start_command(request("train.py", launcher="torchrun"))[2]
    assert "$$" not in script
    assert not re.search(r"\$\([A-Za-z_][A-Za-z0-9_]*\)", script)


def test_an_image_without_torchrun_is_told_so() -> None:
    code, _, told = ended(request("train.py", launcher="torchrun"))
    assert (code, "torchrun: not found" in told) == (127, True)
