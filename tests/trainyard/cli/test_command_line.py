"""The command line lists its commands, and imports only the selected one."""

import subprocess
import sys
import tomllib

import pytest
from typer.testing import CliRunner

from tests.support.stacks import ROOT
from trainyard.cli.app import app
from trainyard.cli.command_line import COMMANDS
from trainyard.stack_files.stacks_directory import create


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def loaded_by(*arguments: str) -> list[str]:
    """Return the modules of commands that a process imports for the arguments."""
    modules = sorted({row.full_name for row in COMMANDS.values()})
    program = (
        "import sys\n"
        "from trainyard.cli.app import app\n"
        "app(sys.argv[2:], standalone_mode=False)\n"
        "print(*[name for name in sys.argv[1].split(',') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, ",".join(modules), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1].split()


def test_the_help_lists_every_command_with_its_summary():
    listed = run("--help").stdout
    width = max(map(len, COMMANDS))
    for name, row in COMMANDS.items():
        assert f"  {name.ljust(width)}  {row.summary}\n" in listed


def test_the_help_imports_no_command():
    assert loaded_by("--help") == []


def test_check_imports_no_other_command():
    assert loaded_by("check", "p5-cb", "--sandbox") == ["trainyard.commands.stack_file.check"]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_own_help(name):
    shown = run(name, "--help")
    assert shown.exit_code == 0
    assert f" {name} [OPTIONS]" in shown.stdout


def test_the_directory_of_stack_files_is_for_one_command(tmp_path):
    create(tmp_path)
    text = (ROOT / "Pulumi.vpc-one-az.yaml").read_text(encoding="utf-8")
    (tmp_path / "Pulumi.net-a.yaml").write_text(text, encoding="utf-8")
    checked = run("--stacks", str(tmp_path), "check", "net-a")
    assert checked.stdout.startswith("net-a: ok")
    refused = run("check", "net-a")
    assert refused.exit_code == 2
    assert f"no Pulumi.net-a.yaml in {ROOT}" in refused.stderr


def test_a_directory_that_has_no_stack_files_is_refused(tmp_path):
    refused = run("--stacks", str(tmp_path), "check", "p5-cb")
    assert refused.exit_code == 2
    assert f"{tmp_path}, which --stacks names, is not a stacks directory" in refused.stderr


def test_options_without_a_command_are_refused(tmp_path):
    refused = run("--stacks", str(tmp_path))
    assert refused.exit_code == 2
    assert "a command is missing" in refused.stderr


def test_options_before_the_command_do_not_hide_it():
    assert run("--", "check", "p5-cb", "--sandbox").stdout.startswith("p5-cb: ok")


def test_a_misspelled_command_is_answered_with_the_similar_one():
    shown = run("chek")
    assert shown.exit_code == 2
    assert "Did you mean 'check'?" in shown.stderr


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shown = CliRunner().invoke(app, ["--version"])
    assert shown.exit_code == 0
    assert shown.stdout == f"trainyard {project['version']}\n"


@pytest.mark.parametrize("name", [*COMMANDS, "sandbox start"])
def test_each_command_has_the_short_option_for_help(name):
    shown = run(*name.split(), "-h")
    assert shown.exit_code == 0
    assert "Usage: " in shown.stdout


def test_the_help_has_the_exit_codes():
    shown = " ".join(run("-h").stdout.split())
    assert "0 success, 1 failure, 2 invalid usage or configuration, 3 cancelled" in shown
