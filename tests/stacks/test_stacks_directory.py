"""A user's stack in a separate directory: in the sandbox, in an account, and with plain Pulumi.

The account is that of a sandbox, which commands without `--sandbox` reach like AWS.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.stacks.support.foreign_program import account_environment
from tests.support.modules import PYTHONPATH
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tests.support.warm_python import warm
from trainyard.stack_files.stacks_directory import VARIABLE, create

pytestmark = pytest.mark.sandbox

STACK_FILE = """\
# The network of team A.  Ask the platform team before you change it.
config:
  aws:region:   us-west-2     # where our capacity is
  trainyard:cluster:
    name: "net-a"
    network:
      kind: new-vpc
      availability_zones: [ us-west-2b ]   # one is enough

    architecture: {kind: network, deletion_protection: false}
"""


class Directory:
    """A stacks directory whose user works in the account of a sandbox."""

    def __init__(self, path: Path, sandbox: Sandbox) -> None:
        self.path = path
        create(path)
        self.file = path / "Pulumi.net-a.yaml"
        self.file.write_text(STACK_FILE)
        self.environment = account_environment(sandbox, path.parent) | {
            "TRAINYARD_SANDBOX": str(sandbox.directory)
        }

    def must(self, *command: str) -> str:
        """Run a command in the directory, as its user types it; return what it wrote."""
        return self._run(command, self.environment)

    def at_once(self, *arguments: str) -> str:
        """Run `./trainyard` without a preview in the directory, which the process finds itself."""
        command = [sys.executable, "-P", "-m", "tests.support.without_preview", *arguments]
        environment = {k: v for k, v in self.environment.items() if k != VARIABLE}
        return self._run(command, warm({**environment, "PYTHONPATH": PYTHONPATH}))

    def _run(self, command: Sequence[str], environment: Mapping[str, str]) -> str:
        done = subprocess.run(
            command,
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def listed(self, *options: str) -> dict[str, Any]:
        """Return the user's only stack, as `list` shows it."""
        found = json.loads(self.must("./trainyard", "list", "--json", *options))
        assert found["directory"] == str(self.path)
        [own] = [each for each in found["stacks"] if not each["is_example"]]
        return own


def checkout_status() -> str:
    """Return the changes next to the stack files, where an engine writes, and of YAML files.

    The program may be edited while the tests run.
    """
    command = ["git", "status", "--porcelain", "--untracked-files=all", "--"]
    command += [":(glob)*", ":(glob)**/*.yaml"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_a_stack_of_the_user_lives_in_its_own_directory(sandbox: Sandbox, tmp_path: Path) -> None:
    before = checkout_status()
    made = Directory(tmp_path / "my stacks", sandbox)

    made.must("./trainyard", "check", "net-a")
    made.at_once("up", "net-a", "--sandbox", "--yes")
    assert made.listed("--sandbox")["state"] == "deployed"
    status = made.must("./trainyard", "status", "net-a", "--sandbox")
    assert "net-a · SANDBOX" in status
    assert "update succeeded" in status
    made.at_once("destroy", "net-a", "--sandbox", "--yes")
    assert made.listed("--sandbox")["state"] == "not deployed"
    assert made.file.read_text() == STACK_FILE

    made.must("pulumi", "stack", "init", "net-a")
    initialized = made.file.read_text()
    content = yaml.safe_load(initialized)
    assert content.pop("encryptionsalt")
    assert content == yaml.safe_load(STACK_FILE)
    assert re.findall("#.*", initialized) == re.findall("#.*", STACK_FILE)

    said = made.must("./trainyard", "up", "net-a", "--yes")
    assert "vpc-" in said
    assert made.listed()["state"] == "deployed"
    assert "net-a · AWS" in made.must("./trainyard", "status", "net-a")
    plain = made.must("pulumi", "up", "-s", "net-a", "--yes", "--skip-preview")
    assert re.search(r"\d+ unchanged", plain)
    assert not re.search(r"to create|created", plain)
    made.at_once("destroy", "net-a", "--yes")
    assert made.file.read_text() == initialized

    assert checkout_status() == before
    files = {".gitignore", "Pulumi.yaml", "Pulumi.net-a.yaml", "trainyard", ".trainyard"}
    assert {path.name for path in made.path.iterdir()} == files
