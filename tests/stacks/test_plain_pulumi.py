"""`pulumi preview -s p5-cb` by hand: no launcher, no sandbox code, only Pulumi and its plugins.

A copy of the repository without `sandbox/`, `tools/` and `tests/` represents a user's checkout; the
account and the provider plugins are the sandbox's.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.stacks.support.foreign_program import account_environment
from tests.support.sandbox import Sandbox
from tests.support.tracked import ROOT
from tools.repository import copy_repository
from trainyard.deployment.protected import forget_arguments

pytestmark = pytest.mark.sandbox

NOT_NEEDED = {"sandbox", "tools", "tests", "docs"}
VALUES = {
    "network.vpc_id": "vpc-0123456789abcdef0",
    "network.public_subnet_ids[0]": "subnet-0a000000000000001",
    "network.public_subnet_ids[1]": "subnet-0b000000000000001",
    "network.private_subnet_ids[0]": "subnet-0a000000000000002",
    "network.private_subnet_ids[1]": "subnet-0b000000000000002",
    "reservations.block.reservation_id": "cr-0123456789abcdef0",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that the program needs."""
    directory = tmp_path / "checkout"
    copy_repository(ROOT, directory, without=NOT_NEEDED)
    return directory


@pytest.fixture
def pulumi(sandbox: Sandbox, checkout: Path, tmp_path: Path):
    """Run `pulumi` in the copy, with plugins installed where Pulumi installs them."""
    environment = account_environment(sandbox, tmp_path)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pulumi", *arguments],
            cwd=checkout,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_program_previews_and_its_stack_is_forgotten_without_launcher(
    pulumi, checkout: Path
) -> None:
    assert pulumi("stack", "init", "p5-cb").returncode == 0
    empty = pulumi("preview", "-s", "p5-cb")
    assert empty.returncode != 0
    assert "pulumi config set --stack p5-cb --path" in empty.stdout + empty.stderr

    for path, value in VALUES.items():
        done = pulumi("config", "set", "--path", f"trainyard:cluster.{path}", value)
        assert done.returncode == 0, done.stderr
    preview = pulumi("preview", "-s", "p5-cb")
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert re.search(r"\+ \d+ to create", preview.stdout)
    assert not (checkout / "sandbox").exists()

    stack_file = (checkout / "Pulumi.p5-cb.yaml").read_bytes()
    removed = pulumi(*forget_arguments("p5-cb"), "--yes")
    assert removed.returncode == 0, removed.stderr
    assert (checkout / "Pulumi.p5-cb.yaml").read_bytes() == stack_file
