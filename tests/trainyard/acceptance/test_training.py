"""The training of an acceptance: its job files, its programs, and their recordings."""

from __future__ import annotations

import re
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.support.tracked import ROOT
from trainyard.acceptance import training
from trainyard.acceptance.training import Training, training_of
from trainyard.jobs.job_file import read_job_file
from trainyard.sandbox.faults.schedule import read_schedule
from trainyard.schedulers.registry import SCHEDULERS

STEPS = ("install", "run", "resume")


def of(kind: str, directory: Path, *, storage: str = "/mnt/data", nvidia: bool = True) -> Training:
    own = SCHEDULERS[kind]
    return training_of(own, nvidia=nvidia, storage=storage, directory=directory)


@pytest.mark.parametrize("kind", ["eks", "parallelcluster"])
def test_the_example_is_a_job_with_checkpoints_on_shared_storage(kind: str, tmp_path: Path) -> None:
    found = of(kind, tmp_path)
    found.write()
    job = read_job_file(tmp_path / "job.yaml").given()
    assert job["checkpoint_directory"] == "/mnt/data/acceptance/checkpoints"
    assert {"train.py", "model.py"} <= {each.name for each in tmp_path.iterdir()}
    assert job["files"] == ["train.py", "model.py"]
    example = yaml.safe_load((ROOT / "examples/pretrain/gpu.yaml").read_text("utf-8"))
    assert job.get("image") == (example["image"] if kind == "eks" else None)
    # No checkpoint is due before the end: what the second run finds was written on SIGTERM.
    words = dict(zip(job["command"][1::2], job["command"][2::2], strict=True))
    assert words["--checkpoint-every"] == words["--steps"]


def test_slurm_gets_pytorch_in_the_version_that_tests_run(tmp_path: Path) -> None:
    found = of("parallelcluster", tmp_path)
    found.write()
    assert read_job_file(tmp_path / "install.yaml").given()["nodes"] == 1
    script = (tmp_path / "install.sh").read_text("utf-8")
    subprocess.run(["bash", "-n", "-c", script], check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for pinned in project["dependency-groups"]["examples"]:
        assert pinned in script
    path = read_job_file(tmp_path / "job.yaml").given()["environment"]["PATH"]
    assert path.startswith("/mnt/data/acceptance/venv/bin:")
    assert "/opt/slurm/bin" in path


@pytest.mark.parametrize(
    ("kind", "storage", "nvidia"),
    [("batch", "", True), ("eks", "", True), ("eks", "/mnt/data", False)],
)
def test_a_program_of_bash_runs_where_the_example_cannot(
    kind: str, storage: str, nvidia: bool, tmp_path: Path
) -> None:
    found = of(kind, tmp_path, storage=storage, nvidia=nvidia)
    assert found.run[-3:] == ("bash", "-c", training.PROGRAM)
    assert not found.continues
    assert not found.files
    assert ("--image" in found.run) == (kind == "eks")


def test_the_program_says_that_it_received_sigterm() -> None:
    command = ["bash", "-c", training.PROGRAM]
    with subprocess.Popen(
        command, env={"NODE_RANK": "0", "PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "step 1 of node 0\n"
        program.send_signal(signal.SIGTERM)
        assert program.stdout.readlines()[-1].startswith("stopped after step ")
    assert program.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("kind", ["parallelcluster", "batch"])
def test_recordings_say_what_the_steps_wait_for(kind: str, tmp_path: Path) -> None:
    """The logs are those of the programs; a sandbox prints them, because it runs no containers."""
    found = of(kind, tmp_path, storage="/a" if kind == "parallelcluster" else "")
    said: dict[str, list[str]] = {}
    for step in STEPS if found.install else STEPS[1:]:
        path = found.recording(step)
        assert path is not None
        (entry,) = read_schedule(path.read_text("utf-8"), path.parent)
        assert entry.job == ("acceptance-install" if step == "install" else "acceptance")
        assert entry.log is not None
        said[step] = [*entry.log.lines]
        assert bool(entry.stop_log) == (step == "run")
    assert any(re.match(found.began, each) for each in said["run"])
    if found.continues:
        assert re.match(found.continues, said["resume"][0])
    assert found.recording("check") is None
