"""A stack that `import --live` writes from a deployed one plans the same, but for what it names.

The commands run once; every test asserts one claim about their results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import pytest
import yaml
from botocore.client import BaseClient

from tests.support.sandbox import Done, Sandbox
from trainyard.components.account.reader import AccountReader
from trainyard.components.architectures.lookup import look_up
from trainyard.components.architectures.prepare import prepare
from trainyard.components.clock import now
from trainyard.components.config.load import load_stack_config
from trainyard.engine.environment import process_environment
from trainyard.importing.imported import Imported
from trainyard.importing.live.clusters import read_live
from trainyard.sandbox.state import SandboxDirectory
from trainyard.sandboxes.session import RunningSandbox
from trainyard.stack_files import stacks_directory
from trainyard.stack_files.completion import completed, sandbox_completion
from trainyard.stack_files.stack_files import StackFile, find_stack_file

pytestmark = pytest.mark.sandbox

STACK = "eks-p5-odcr"
REGION = "us-west-2"


@dataclass(slots=True)
class Life:
    """The results."""

    done: dict[str, Done] = field(default_factory=dict[str, Done])
    imported: Imported | None = None
    calls: list[str] = field(default_factory=list[str])
    plans: dict[str, Any] = field(default_factory=dict[str, Any])


@pytest.fixture(scope="module")
def life(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Life:
    life, stacks = Life(), tmp_path_factory.mktemp("live") / "stacks"
    sandbox = sandbox.without_preview()
    stacks_directory.create(stacks)
    life.done["up"] = sandbox.must("up", STACK, "--sandbox", "--yes")
    life.done["import"] = sandbox.must(
        *("--stacks", stacks, "import", "--live", STACK, "--region", REGION, "--sandbox"),
    )
    directory = SandboxDirectory(sandbox.directory)
    status = directory.read_status()
    assert status is not None
    with process_environment(RunningSandbox(directory, status).aws_environment()):
        life.imported = _read(life.calls)
        original = find_stack_file(STACK)
        life.plans["original"] = _planned(completed(original, sandbox_completion(original)))
        life.plans["imported"] = _planned(
            find_stack_file(STACK, path=stacks / f"Pulumi.{STACK}.yaml")
        )
    life.done["destroy"] = sandbox.must("destroy", STACK, "--sandbox", "--yes")
    return life


def _read(calls: list[str]) -> Imported:
    """Read the cluster in this process, and record the operations that are called."""
    call = BaseClient._make_api_call

    def recorded(client: BaseClient, operation: str, parameters: Mapping[str, Any]) -> Any:
        calls.append(operation)
        return call(client, operation, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", recorded)
        return read_live(AccountReader(region=REGION), STACK, name="")


def _planned(stack_file: StackFile) -> Any:
    config = load_stack_config(stack_file.cluster, stack_file=stack_file.name)
    facts = look_up(config, region=REGION)
    return prepare(config, facts, stack_file=stack_file.name, region=REGION, now=now()).plan


def test_only_calls_that_read_are_made(life: Life) -> None:
    reading = ("Describe", "List", "Get")
    assert len(set(life.calls)) > 10
    assert [each for each in life.calls if not each.startswith(reading)] == []


def test_every_field_is_in_the_report(life: Life) -> None:
    assert life.imported is not None
    assert life.imported.problems == []
    assert len(life.imported.entries) > 100


def test_the_control_plane_is_planned_the_same(life: Life) -> None:
    ours, theirs = life.plans["imported"], life.plans["original"]
    for name in (
        *("name", "tags", "kubernetes_version", "authentication_mode", "node_authorization"),
        *("endpoint_public_access", "endpoint_private_access", "public_access_cidrs"),
        *("log_types", "addon_versions", "addons", "self_managed_addons"),
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.network.vpc_id == theirs.network.vpc_id
    assert set(ours.network.private_subnets) == set(theirs.network.private_subnets)
    assert set(ours.network.public_subnets) == set(theirs.network.public_subnets)


def _differences(ours: Any, theirs: Any) -> Iterator[str]:
    for each in fields(theirs):
        if getattr(ours, each.name) != getattr(theirs, each.name):
            yield each.name


def test_node_groups_are_planned_the_same_but_name_what_the_account_was_asked_for(
    life: Life,
) -> None:
    ours = {each.name: each for each in life.plans["imported"].node_groups}
    theirs = {each.name: each for each in life.plans["original"].node_groups}
    assert ours.keys() == theirs.keys()
    assert set(_differences(ours["system"], theirs["system"])) <= {"subnets", "config"}
    # The stack file names the subnet that was found by its zone, and the reservation like its
    # nodes.
    assert set(_differences(ours["p5-odcr"], theirs["p5-odcr"])) <= {"config", "capacity"}
    written = yaml.safe_dump(life.imported.stack.values) if life.imported else ""
    assert "subnet_id: subnet-0b000000000000002" in written
