"""A user follows the migration guides: every command, as printed, with the changes that they show.

The commands run once for each guide, without previews; every test asserts one claim that the guide
makes about them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.sandbox import Done, Sandbox
from tests.support.tracked import ROOT
from trainyard.stack_files import stacks_directory

pytestmark = pytest.mark.sandbox

_BLOCK = re.compile(r"```(sh|yaml)\n(.*?)```", re.DOTALL)


def follow(guide: str, stack: str, sandbox: Sandbox, directory: Path) -> Mapping[str, list[Done]]:
    """Run the commands of a guide and make its changes, in order; return the results."""
    stacks_directory.create(directory)
    sandbox = sandbox.without_preview()
    path = directory / f"Pulumi.{stack}.yaml"
    results: dict[str, list[Done]] = {}
    for language, text in _BLOCK.findall((ROOT / "docs" / guide).read_text(encoding="utf-8")):
        if language == "yaml":
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            merge(content["config"]["trainyard:cluster"], yaml.safe_load(text))
            path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
            continue
        for line in text.splitlines():
            command = line.removeprefix("./trainyard ")
            done = sandbox.run("--stacks", directory, *command.split())
            results.setdefault(command.split()[0], []).append(done)
    return results


def merge(section: dict[str, Any], change: Mapping[str, Any]) -> None:
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(section.get(key), dict):
            merge(section[key], value)
        else:
            section[key] = value


@pytest.fixture(scope="module")
def eksctl(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Done]]:
    directory = tmp_path_factory.mktemp("eksctl") / "stacks"
    return follow("migrate-eksctl.md", "new-train", sandbox, directory)


@pytest.fixture(scope="module")
def pcluster(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, list[Done]]:
    directory = tmp_path_factory.mktemp("pcluster") / "stacks"
    return follow("migrate-parallelcluster.md", "new-slurm", sandbox, directory)


@pytest.fixture(scope="module")
def terraform(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, list[Done]]:
    directory = tmp_path_factory.mktemp("terraform") / "stacks"
    return follow("migrate-terraform.md", "new-prod", sandbox, directory)


@pytest.fixture(params=["eksctl", "pcluster", "terraform"])
def guide(request: pytest.FixtureRequest) -> Mapping[str, list[Done]]:
    return request.getfixturevalue(request.param)


def test_every_command_succeeds(guide: Mapping[str, list[Done]]) -> None:
    failed = [each for results in guide.values() for each in results if each.exit_code]
    assert failed == []


def test_the_nodes_of_the_reservation_come_with_the_second_update(
    guide: Mapping[str, list[Done]],
) -> None:
    (verified,) = guide["verify"]
    assert "2 of 2 nodes are as planned" in verified.stdout


def test_destroy_leaves_nothing_protected_because_the_data_was_there_before(
    guide: Mapping[str, list[Done]],
) -> None:
    (destroyed,) = guide["destroy"]
    assert "protected" not in destroyed.stdout
