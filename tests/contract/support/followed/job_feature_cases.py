"""A comment on a job of `run`, which every scheduler shows."""

import json

import pytest
import yaml
from typer.testing import CliRunner

from tests.support.stacks import stack_config
from trainyard.cli.app import app
from trainyard.jobs.job_file import read_job_file

TEXT = "ablation 7"
IMAGE = ("--image", "pytorch/pytorch:2.13.0")


def shown(tmp_path, stack, *options, image=()):
    file = tmp_path / f"Pulumi.{stack}.yaml"
    file.write_text(yaml.safe_dump({"config": stack_config(stack)}), encoding="utf-8")
    given = ["run", stack, *options, *image, "--dry-run", "--stack-file", str(file)]
    done = CliRunner().invoke(app, [*given, "--", "train.py"])
    assert done.exit_code == 0, done.output
    return done.stdout


def comment_in(text, scheduler):
    """Return the comment of a job as its scheduler reads it."""
    if scheduler == "slurm":
        lines = [line for line in text.splitlines() if line.startswith("#SBATCH --comment=")]
        return lines[0].partition("=")[2].strip("'") if lines else None
    if scheduler == "batch":
        return json.loads(text).get("tags", {}).get("comment")
    jobs = [each for each in yaml.safe_load_all(text) if each and each["kind"] == "Job"]
    return jobs[0]["metadata"].get("annotations", {}).get("kubernetes.io/description")


CASES = [("eks-p5-odcr", "kubernetes", IMAGE), ("pc-gpu", "slurm", ()), ("batch-p5", "batch", ())]


@pytest.mark.parametrize(("stack", "scheduler", "image"), CASES)
def test_the_comment_reaches_the_scheduler(tmp_path, stack, scheduler, image):
    assert comment_in(shown(tmp_path, stack, image=image), scheduler) is None
    given = shown(tmp_path, stack, "--comment", TEXT, image=image)
    assert comment_in(given, scheduler) == TEXT
    file = tmp_path / "job.yaml"
    file.write_text(f"comment: {TEXT}\n", encoding="utf-8")
    given = shown(tmp_path, stack, "--file", str(file), image=image)
    assert comment_in(given, scheduler) == TEXT


def test_the_key_is_that_of_the_request(tmp_path):
    file = tmp_path / "job.yaml"
    file.write_text(f"comment: {TEXT}\n", encoding="utf-8")
    assert read_job_file(file).given() == {"comment": TEXT}
