"""`logs STACK JOB` for Slurm: the output file of a job on the head node."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainyard.cli import failures
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.log_request import LogRequest
from trainyard.schedulers.slurm.jobs import slurm_log


@dataclass
class HeadNode:
    """Runs scripts in a real Bash, with a directory as home, and Slurm's commands of the test."""

    home: Path

    def command(self, name: str, body: str) -> None:
        commands = self.home / "bin"
        commands.mkdir(exist_ok=True)
        (commands / name).write_text(f"#!/bin/bash\n{body}\n", encoding="utf-8")
        (commands / name).chmod(0o755)

    def run(self, script: str) -> str:
        bash = shutil.which("bash")
        assert bash is not None
        path = f"{self.home / 'bin'}:{os.environ['PATH']}"
        environment = {"HOME": str(self.home), "PATH": path}
        return subprocess.run(
            [bash], input=script, env=environment, text=True, capture_output=True, check=True
        ).stdout


@pytest.fixture
def head_node(tmp_path: Path) -> HeadNode:
    """A head node with the logs of two jobs, of which Slurm knows the second."""
    node = HeadNode(tmp_path)
    for number, name in ((11, "train"), (12, "train-more")):
        directory = tmp_path / "trainyard-jobs" / f"{name}-ab"
        directory.mkdir(parents=True)
        (directory / f"{name}-{number}.out").write_text(f"log of {number}\nend", encoding="utf-8")
    known = tmp_path / "trainyard-jobs" / "train-more-ab" / "train-more-12.out"
    node.command("scontrol", f'[ "$4" = 12 ] && echo "JobId=12 StdOut={known} Power="')
    node.command("squeue", "echo COMPLETED")
    return node


@pytest.mark.parametrize(
    ("job", "number"), [("12", 12), ("11", 11), ("train", 11), ("train-more", 12)]
)
def test_the_log_of_a_slurm_job_is_found_when_slurm_has_forgotten_it(
    head_node: HeadNode, job: str, number: int
) -> None:
    for follow in (False, True):
        request = LogRequest(job=job, follow=follow, every_node=True)
        assert "\n".join(slurm_log(head_node.run, request)) == f"log of {number}\nend"


def test_a_slurm_job_is_followed_until_it_ends(head_node: HeadNode) -> None:
    log = head_node.home / "trainyard-jobs" / "train-ab" / "train-11.out"
    state = head_node.home / "state"
    state.write_text("RUNNING", encoding="utf-8")
    head_node.command("squeue", f"cat {state}")

    def pause(_: float) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write("ing\nlast\n")
        state.write_text("FAILED", encoding="utf-8")

    request = LogRequest(job="11", follow=True, wait=JobWait(pause=pause))
    lines = [*slurm_log(head_node.run, request)]
    assert lines[0] == "log of 11"
    assert "\n".join(lines[1:]) == "ending\nlast"


@pytest.mark.parametrize(
    ("asked", "error", "says"),
    [
        ({"job": "99"}, failures.CommandError, "there is no log of a job 99"),
        ({"job": "$(id)"}, failures.WrongUseError, "is no name or id of a Slurm job"),
        ({"job": "11", "node": 1}, failures.WrongUseError, "write into one log: omit --node"),
    ],
)
def test_what_slurm_has_no_log_of_is_refused(
    head_node: HeadNode, asked: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        next(slurm_log(head_node.run, LogRequest(**asked)))
