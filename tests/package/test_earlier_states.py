"""A state of version 0.1 goes on in a clone without a change, and in a package after one update.

Of all that a state holds, only the provider of the entry in `aws-auth` names a Python module, and
`p5-cb` is the stack that has one. Everything here is plain Pulumi without PYTHONPATH.
"""

from __future__ import annotations

import base64
import json
import pickle
import pkgutil
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.stacks.support.foreign_program import account_environment
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tools.repository import copy_repository
from trainyard.stack_files.stacks_directory import PROGRAM_TEXT

pytestmark = pytest.mark.sandbox

STACK = "p5-cb"
RECORDED = (
    "gASVNgAAAAAAAACMG2NvbXBvbmVudHMucnVudGltZS5hd3NfYXV0aJSMD0F3c0F1dGhQcm92aWRlcpSTlCmBlC4="
)
"""What the program of a87eb64a and of 3134561d, and their Pulumi SDK, write for the provider."""
VALUES = {
    "network.vpc_id": "vpc-0123456789abcdef0",
    "network.public_subnet_ids[0]": "subnet-0a000000000000001",
    "network.public_subnet_ids[1]": "subnet-0b000000000000001",
    "network.private_subnet_ids[0]": "subnet-0a000000000000002",
    "network.private_subnet_ids[1]": "subnet-0b000000000000002",
    "reservations.block.reservation_id": "cr-0123456789abcdef0",
}
PROJECT = "name: trainyard\nruntime: {name: python, options: {toolchain: pip, virtualenv: .venv}}\n"


@dataclass(frozen=True, slots=True)
class Account:
    """The backend of a user, and what runs `pulumi` in a directory."""

    environment: dict[str, str]
    clone: Path
    before: Path
    """File with the state that version 0.1 has written."""

    def run(self, directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `pulumi`."""
        return subprocess.run(
            ["pulumi", *arguments],
            cwd=directory,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def pulumi(self, directory: Path, *arguments: str) -> str:
        """Run `pulumi`, which has to succeed; return what it says."""
        done = self.run(directory, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def change(self, directory: Path, command: str) -> dict[str, int]:
        """Run `up`, `refresh` or `destroy`; return how many resources had each operation."""
        options = ("--yes", "--skip-preview", "-s", STACK)
        said = self.pulumi(directory, command, *options)
        found = re.findall(r"^ +[-+~]+ (\d+) (\w+)", said, flags=re.MULTILINE)
        return {operation: int(count) for count, operation in found}


@pytest.fixture
def account(sandbox: Sandbox, tmp_path: Path) -> Account:
    """A deployed stack whose state is as version 0.1 has written it."""
    clone = tmp_path / "clone"
    copy_repository(ROOT, clone, without={"tests", "docs"})
    found = Account(account_environment(sandbox, tmp_path), clone, tmp_path / "state.json")
    assert "PYTHONPATH" not in found.environment
    found.pulumi(clone, "stack", "init", STACK)
    for path, value in VALUES.items():
        key = f"trainyard:cluster.{path}"
        found.pulumi(clone, "config", "set", "-s", STACK, "--path", key, value)
    assert found.change(clone, "up").keys() == {"created"}
    state = found.pulumi(clone, "stack", "export", "-s", STACK)
    written = set(re.findall(r'"__provider": "([^"]+)"', state))
    assert len(written) == 1
    found.before.write_text(state.replace(written.pop(), RECORDED))
    found.pulumi(clone, "stack", "import", "-s", STACK, "--file", str(found.before))
    return found


def providers(account: Account, directory: Path) -> set[str]:
    """Return the provider in the inputs and outputs of the state."""
    state = json.loads(account.pulumi(directory, "stack", "export", "-s", STACK))
    resources = state["deployment"]["resources"]
    (entry,) = [each for each in resources if each["type"].endswith("aws-auth:Entry")]
    return {entry[part]["__provider"] for part in ("inputs", "outputs")}


def test_a_clone_changes_refreshes_and_destroys_it(account: Account) -> None:
    assert account.change(account.clone, "up") == {}
    assert RECORDED in providers(account, account.clone)
    assert account.change(account.clone, "refresh") == {}
    assert account.change(account.clone, "destroy").keys() == {"deleted"}


def test_a_package_renames_the_provider_once_and_destroys_it(
    account: Account, installed: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "stacks"
    directory.mkdir()
    (directory / "Pulumi.yaml").write_text(PROJECT)
    (directory / "__main__.py").write_text(PROGRAM_TEXT)
    (directory / ".venv").symlink_to(installed.parents[1])
    file = f"Pulumi.{STACK}.yaml"
    (directory / file).write_bytes((account.clone / file).read_bytes())

    assert account.change(directory, "up") == {"updated": 1}
    (written,) = providers(account, directory)
    assert written != RECORDED
    assert account.change(directory, "up") == {}
    assert account.change(directory, "refresh") == {}
    assert account.change(account.clone, "up") == {}
    assert account.change(directory, "destroy").keys() == {"deleted"}


class _Later:
    """Serialized as what a later version could have in `trainyard_state`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return pkgutil.resolve_name, ("trainyard_state:LATER",)


def test_a_state_of_a_newer_version_is_refused_with_the_reason(account: Account) -> None:
    later = base64.b64encode(pickle.dumps(_Later(), protocol=4)).decode()
    state = account.pulumi(account.clone, "stack", "export", "-s", STACK)
    file = account.clone / "state.json"
    file.write_text(state.replace(RECORDED, later))
    account.pulumi(account.clone, "stack", "import", "-s", STACK, "--file", str(file))
    for command in (["preview"], ["refresh", "--yes", "--skip-preview"]):
        done = account.run(account.clone, *command, "-s", STACK)
        assert done.returncode != 0
        assert "a newer version of trainyard has written the state" in done.stdout + done.stderr
    account.pulumi(account.clone, "stack", "import", "-s", STACK, "--file", str(account.before))
    assert account.change(account.clone, "destroy").keys() == {"deleted"}
