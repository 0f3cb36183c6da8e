"""Commands that need no account import no SDK: neither Pulumi, nor that of AWS or Kubernetes.

Each command runs in a fresh process, as the launcher starts it. Importing one of the SDKs takes as
long as everything else that `check` does.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.support.modules import PYTHONPATH
from tests.support.stacks import stack_config
from tests.support.tracked import ROOT
from trainyard.components.architectures.registry import ARCHITECTURES
from trainyard.importing.formats import FORMATS
from trainyard.stack_files.stack_files import find_stack_file, stack_names

SDKS = {"boto3", "botocore", "kubernetes", "pulumi"}
STACKS = stack_names()
ONE_OF_EACH = {find_stack_file(stack).architecture: stack for stack in STACKS}
CORPUS = ROOT / "tests" / "trainyard" / "importing" / "corpus"
PROGRAM = """
import atexit, runpy, sys
report = open(sys.argv.pop(1), "w")
atexit.register(lambda: print(*sys.modules, file=report, flush=True))
runpy.run_module("trainyard", run_name="__main__", alter_sys=True)
"""
"""Runs the command line, and writes the names of all modules that it imported to a file."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended."""

    exit_code: int
    output: str
    imported: frozenset[str]
    """The names of all modules of its process."""

    @property
    def sdks(self) -> set[str]:
        """The SDKs among them."""
        return {name.partition(".")[0] for name in self.imported} & SDKS


def trainyard(*arguments: str | Path, home: Path) -> Done:
    """Run a command in a fresh process without credentials."""
    report = home / "imported.txt"
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, report, *arguments],
        cwd=home,
        env={
            "AWS_EC2_METADATA_DISABLED": "true",
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": PYTHONPATH,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    imported = frozenset(report.read_text(encoding="utf-8").split())
    return Done(done.returncode, done.stdout, imported)


def complete(stack: str, directory: Path) -> Path:
    """Write a stack file of the repository with the ids that it lacks, and return its path."""
    path = directory / f"Pulumi.{stack}.yaml"
    path.write_text(yaml.safe_dump({"config": stack_config(stack)}), encoding="utf-8")
    return path


def test_every_architecture_has_a_stack_file() -> None:
    assert ONE_OF_EACH.keys() == ARCHITECTURES.keys()


@pytest.mark.parametrize("stack", ONE_OF_EACH.values(), ids=ONE_OF_EACH.keys())
def test_check_plans_a_stack_without_an_sdk(stack: str, tmp_path: Path) -> None:
    done = trainyard("check", stack, "--stack-file", complete(stack, tmp_path), home=tmp_path)
    assert (done.exit_code, done.output.splitlines()[0]) == (0, f"{stack}: ok")
    assert f"{ARCHITECTURES[find_stack_file(stack).architecture].package}.planner" in done.imported
    assert not done.sdks
    # Not needed either, and slow to import.
    assert not {"moto", "rich"} & done.imported


def test_check_explains_what_stack_files_lack_without_an_sdk(tmp_path: Path) -> None:
    done = trainyard("check", *STACKS, "--sarif", home=tmp_path)
    assert done.exit_code == 2
    assert "trainyard.components.config.explain" in done.imported
    assert not done.sdks


def test_an_unknown_stack_is_refused_without_an_sdk(tmp_path: Path) -> None:
    done = trainyard("check", "p6-cb", home=tmp_path)
    assert done.exit_code == 2
    assert "there is no stack 'p6-cb'" in done.output
    assert not done.sdks


def test_plan_refuses_an_incomplete_stack_file_without_an_sdk(tmp_path: Path) -> None:
    done = trainyard("plan", "p5-cb", home=tmp_path)
    assert done.exit_code == 2
    assert "reservation_id" in done.output
    assert not done.sdks


@pytest.mark.parametrize("stack", ONE_OF_EACH.values(), ids=ONE_OF_EACH.keys())
def test_plan_imports_of_the_sdks_only_what_looks_for_credentials(
    stack: str, tmp_path: Path
) -> None:
    done = trainyard("plan", stack, "--stack-file", complete(stack, tmp_path), home=tmp_path)
    assert done.exit_code == 2
    assert "no AWS credentials found" in done.output
    assert done.sdks == {"botocore"}


@pytest.mark.parametrize("name", [each.name for each in FORMATS])
def test_lint_reads_the_files_of_a_format_without_an_sdk(name: str, tmp_path: Path) -> None:
    done = trainyard("lint", *files_of(name), home=tmp_path)
    assert done.exit_code in {0, 2}
    assert f"trainyard.importing.{name}.conversion" in done.imported
    assert not done.sdks


def files_of(name: str) -> Sequence[Path]:
    """Return all files of a format in the corpus."""
    files = [each for each in (CORPUS / name).rglob("*") if each.is_file()]
    return sorted(each for each in files if each.suffix in {".json", ".tf", ".yaml"})
