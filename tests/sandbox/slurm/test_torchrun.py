"""The stand-in for torchrun: processes and variables of a node, failures and signals."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.support.processes import PATIENCE, until
from trainyard.sandbox.slurm import torchrun

SHOW = 'echo "$RANK $LOCAL_RANK $GROUP_RANK of $WORLD_SIZE x $LOCAL_WORLD_SIZE $MASTER_ADDR $0"'
NODE = {
    "PATH": "/usr/bin:/bin",
    "PET_NNODES": "2",
    "PET_NODE_RANK": "1",
    "PET_NPROC_PER_NODE": "2",
    "PET_MASTER_ADDR": "127.0.0.1",
    "PET_MASTER_PORT": "29500",
}


def start(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", torchrun.__file__, *arguments],
        env={**NODE, **environment},
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_every_process_of_a_node_has_its_rank() -> None:
    with start("--no-python", "sh", "-c", SHOW, "train") as process:
        said, told = process.communicate(timeout=PATIENCE)
    assert sorted(said.splitlines()) == [
        "2 0 1 of 4 x 2 127.0.0.1 train",
        "3 1 1 of 4 x 2 127.0.0.1 train",
    ]
    assert (process.returncode, told) == (0, "")


def test_files_and_modules_run_in_python(tmp_path: Path) -> None:
    # In one write, because both processes share a pipe and Python does not buffer.
    program = "import os, sys; os.write(1, f'{sys.argv[1:]}\\n'.encode())"
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    for arguments in (("train.py", "--lr", "1"), ("-m", "train", "--lr", "1")):
        with start(*arguments, cwd=tmp_path) as process:
            assert process.communicate(timeout=PATIENCE)[0] == "['--lr', '1']\n" * 2


def test_a_process_that_fails_ends_the_others() -> None:
    program = 'if [ "$LOCAL_RANK" = 1 ]; then exit 7; else exec sleep 600; fi'
    with start("--no-python", "sh", "-c", program, PET_MAX_RESTARTS="1") as process:
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert told.splitlines() == [
        "torchrun of the sandbox: does not start a program again that fails",
        "torchrun of the sandbox: the process with local rank 1 ended with exit code 7",
    ]


def test_sigterm_reaches_the_processes_which_may_end_in_their_own_way(tmp_path: Path) -> None:
    program = f'trap "echo saved; exit 0" TERM; touch {tmp_path}/$RANK; while :; do sleep 0.1; done'
    with start("--no-python", "bash", "-c", program) as process:
        until(lambda: len([*tmp_path.iterdir()]) == 2, "both processes")
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=PATIENCE)
    assert (said, process.returncode) == ("saved\nsaved\n", 1)
