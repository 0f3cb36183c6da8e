"""The GitHub Action and the pre-commit hook run `lint` as they are."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
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


def run_hook(repository: Path, *files: str) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(HOOK["entry"])
    return subprocess.run(
        [ROOT / program, *arguments, *HOOK["args"], *files],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_runs_lint_on_the_files_of_a_commit(repository: Path):
    # pre-commit resolves the first word in its clone of this repository.
    done = run_hook(repository, "deep/cluster.yaml", "pod.yaml")
    assert done.returncode == 2
    assert done.stdout.startswith("deep/cluster.yaml:13: error A1: ")
    assert HOOK["language"] == "script"


def test_a_file_that_is_named_like_an_option_is_a_file(repository: Path):
    """A pull request can add a file with any name."""
    for name in ("--json.yaml", "--ignore=A1.yaml"):
        shutil.copy(repository / "deep" / "cluster.yaml", repository / name)
    done = run_hook(repository, "--json.yaml", "--ignore=A1.yaml", "deep/cluster.yaml")
    assert done.returncode == 2, done.stderr
    assert len(re.findall("error A1: ", done.stdout)) == 3
    assert run_action(repository, files="*.yaml").returncode == 2


def test_the_action_leaves_no_empty_sarif(repository: Path):
    done = run_action(repository, ignore="no-such-rule")
    assert done.returncode == 2
    assert not (repository / "trainyard-lint.sarif").exists()


def test_the_action_takes_no_file_for_a_rule(repository: Path):
    (repository / "A1").write_text("", encoding="utf-8")
    assert "there is no rule '*'" in run_action(repository, ignore="*").stderr
