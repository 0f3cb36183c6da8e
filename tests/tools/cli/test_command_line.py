"""A command brings its own imports, and every name leads to the same command line."""

import subprocess
import sys
import tomllib

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from tests.support.stacks import ROOT
from tools.cli.app import app
from tools.cli.command_line import COMMANDS, command_line


def names(arguments):
    return sorted(get_command(command_line(arguments)).commands)


def test_every_command_is_there():
    assert sorted(get_command(app).commands) == sorted(COMMANDS)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["chek"], ["--json", "check"]])
def test_without_a_known_command_all_are_offered(arguments):
    assert names(arguments) == sorted(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_named_is_there_alone_and_the_same(name):
    (only,) = get_command(command_line([name, "--json"])).commands.items()
    whole = get_command(app).commands[name]
    assert only[0] == name
    assert [p.opts for p in only[1].params] == [p.opts for p in whole.params]


def test_check_imports_no_other_command():
    program = (
        "import sys\n"
        "from tools.cli.command_line import command_line\n"
        "command_line(['check'])\n"
        "print([n for n in ('jobs', 'deployments', 'bench') if f'tools.cli.{n}' in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_the_version_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shown = CliRunner().invoke(app, ["--version"])
    assert shown.exit_code == 0
    assert shown.stdout == f"trainyard {project['version']}\n"
