"""Shells complete commands, options and the names of stacks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.tracked import ROOT
from trainyard.stack_files.stack_files import stack_names

NETWORKS = [name for name in stack_names() if name.startswith("vpc-")]


def completed(shell: str, **asked: str) -> str:
    """Return the answer of the command line to a shell's completion script."""
    environment = {**os.environ, "_TRAINYARD_COMPLETE": f"complete_{shell}", **asked}
    done = subprocess.run(
        [sys.executable, "-m", "trainyard"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def in_bash(line: str, launcher: str) -> list[str]:
    """Return the completions of the last word of a line, from the script for bash."""
    program = (
        f'eval "$({launcher} completion bash)"\n'
        f"COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
        '_trainyard_completion ./trainyard; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("./trainyard des", ["destroy"]),
        ("./trainyard up vpc-", NETWORKS),
        ("./trainyard sandbox inv", ["inventory"]),
    ],
)
def test_bash_completes_what_the_script_says(line: str, found: list[str]) -> None:
    assert in_bash(line, "./trainyard") == found


def test_zsh_and_fish_get_the_stacks_in_their_forms() -> None:
    line = "./trainyard destroy vpc-"
    zsh = completed("zsh", _TYPER_COMPLETE_ARGS=line)
    assert zsh.startswith("_arguments '*: :((")
    assert all(f'"{name}"' in zsh for name in NETWORKS)
    action = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert completed("fish", _TYPER_COMPLETE_ARGS=line, **action).split() == NETWORKS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_launcher_of_this_checkout(trainyard, shell: str) -> None:
    script = trainyard("completion", shell).stdout
    assert f"_TRAINYARD_COMPLETE=complete_{shell}" in script
    assert str(ROOT / "trainyard") in script


def test_an_unknown_shell_is_refused_with_the_known_ones(trainyard) -> None:
    result = trainyard("completion", "tcsh")
    assert result.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in result.stderr
