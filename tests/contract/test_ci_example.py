"""The workflow in docs/ci runs as is: its commands and options exist, its shell code is valid."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.tracked import ROOT
from trainyard.cli.command_line import command
from trainyard.stack_files.stack_files import stack_names

WORKFLOW = ROOT / "docs" / "ci" / "trainyard-check.yml"
# YAML 1.1 reads the key `on` as true.
DOCUMENT: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
STEPS = [step for job in DOCUMENT["jobs"].values() for step in job["steps"]]
SCRIPTS = [step["run"] for step in STEPS if "run" in step]
COMMAND = re.compile(r"\./trainyard (.+?)(?: > |$)", flags=re.MULTILINE)


def commands() -> Iterator[list[str]]:
    for script in SCRIPTS:
        for line in COMMAND.findall(script):
            yield shlex.split(line)


def test_each_command_and_option_exists() -> None:
    found = list(commands())
    assert [words[0] for words in found] == ["check", "preview"]
    for name, *words in found:
        options = {option for param in command(name).params for option in param.opts}
        assert {word for word in words if word.startswith("-")} <= options


def test_each_step_runs_something_or_uses_an_action_of_a_commit() -> None:
    for step in STEPS:
        assert ("run" in step) != ("uses" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", step["uses"])


def test_what_is_found_is_handed_over_also_when_the_check_fails() -> None:
    for job in DOCUMENT["jobs"].values():
        *_, command, upload = job["steps"]
        assert upload["uses"].startswith("github/codeql-action/upload-sarif@")
        assert upload["if"] == "${{ !cancelled() }}"
        assert command["run"].rstrip().endswith(f"> {upload['with']['sarif_file']}")
        assert job["permissions"] == {"contents": "read", "security-events": "write"}


def test_a_job_may_read_and_nothing_else_unless_it_says_so() -> None:
    assert DOCUMENT["permissions"] == {"contents": "read"}


def test_the_stacks_that_are_previewed_exist() -> None:
    named = DOCUMENT["jobs"]["preview"]["strategy"]["matrix"]["stack"]
    assert set(named) <= set(stack_names())


@pytest.mark.parametrize("script", SCRIPTS)
def test_shellcheck_has_nothing_to_say(script: str, tmp_path: Path) -> None:
    path = tmp_path / "step.sh"
    path.write_text(f"#!/bin/bash\nset -eo pipefail\n{script}")
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([shellcheck, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_list_of_stacks_is_every_stack_file(tmp_path: Path) -> None:
    """The first lines of the check, with `echo` in place of the command."""
    script = SCRIPTS[0].replace("./trainyard", "echo").split(" > ")[0]
    done = subprocess.run(
        ["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    first, *stacks = done.stdout.split()
    assert first == "check"
    assert sorted(word for word in stacks if not word.startswith("-")) == stack_names()


def test_the_page_about_it_names_the_file_and_the_exit_codes() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert "(ci/trainyard-check.yml)" in page
    for code in ("0", "1", "2"):
        assert f"\n| {code} |" in page
