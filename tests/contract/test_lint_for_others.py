"""The GitHub Action and the pre-commit hook run `lint` as they are."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.import_sources import QUEUE, cluster
from tests.support.tracked import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
(STEP,) = ACTION["runs"]["steps"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a configuration that breaks A1, and a manifest of another kind."""
    (tmp_path / "deep").mkdir()
    broken = cluster(QUEUE.replace("p5.48xlarge", "c5.large"))
    (tmp_path / "deep" / "cluster.yaml").write_text(broken, encoding="utf-8")
    (tmp_path / "pod.yaml").write_text("kind: Pod\nx: {{ .Values.x }}\n", encoding="utf-8")
    return tmp_path


def run_action(repository: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    defaults = {name: given["default"] for name, given in ACTION["inputs"].items()}
    given: dict[str, Any] = {**defaults, **inputs}
    names = {"${{ inputs." + name + " }}": value for name, value in given.items()}
    variables = {name: names[value] for name, value in STEP["env"].items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEP["run"]],
        cwd=repository,
        env={**os.environ, **variables, "GITHUB_ACTION_PATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_prints_the_findings_writes_sarif_and_fails(repository: Path):
    done = run_action(repository)
    assert done.returncode == 2
    assert done.stdout.startswith("deep/cluster.yaml:13: error A1: ")
    document = json.loads((repository / "trainyard-lint.sarif").read_text(encoding="utf-8"))
    (result,) = document["runs"][0]["results"]
    assert result["ruleId"] == "A1"


def test_the_action_fails_if_no_file_matches(repository: Path):
    done = run_action(repository, files="clusters/*.yaml")
    assert (done.returncode, done.stderr) == (2, "no file matches: clusters/*.yaml\n")


def test_the_hook_runs_lint_on_the_files_of_a_commit(repository: Path):
    # pre-commit resolves the first word in its clone of this repository.
    program, *arguments = shlex.split(HOOK["entry"])
    files = ["deep/cluster.yaml", "pod.yaml"]
    done = subprocess.run(
        [ROOT / program, *arguments, *files],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.startswith("deep/cluster.yaml:13: error A1: ")
    assert HOOK["language"] == "script"
