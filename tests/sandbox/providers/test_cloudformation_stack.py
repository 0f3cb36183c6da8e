"""The life of an `aws.cloudformation.Stack`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cloudformation import Stacks, cloudformation, thing_template
from tests.support.provider_plugin import Made, Plugin, RefusedError
from tests.support.sandbox_aws import Account
from trainyard.sandbox.aws.server import AwsServer

pytestmark = pytest.mark.parallelcluster

STACK = "aws:cloudformation/stack:Stack"
INPUTS: dict[str, Any] = {
    "name": "s",
    "templateBody": thing_template(),
    "capabilities": ["CAPABILITY_IAM"],
    "tags": {"team": "a"},
}


@pytest.fixture(scope="module")
def stacks(server: AwsServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stacks]:
    """The CloudFormation stacks of an account, shared by the tests of this module."""
    server.reset()
    with cloudformation(server, tmp_path_factory.mktemp("engine")):
        yield Stacks(Account(server))


@pytest.fixture(scope="module")
def plugin(stacks: Stacks, aws_provider: Plugin) -> Plugin:
    return aws_provider


def test_a_stack_lives_from_up_to_destroy(plugin: Plugin) -> None:
    made = plugin.create(STACK, INPUTS)
    assert made.identifier.startswith("arn:aws:cloudformation:us-west-2:123456789012:stack/s/")
    assert made.outputs["outputs"] == {"Name": "thing"}
    assert plugin.diff(STACK, made, INPUTS) == ([], [])
    found = plugin.read(STACK, made)
    assert found is not None
    assert plugin.diff(STACK, found, INPUTS) == ([], [])
    imported = plugin.read(STACK, Made(made.identifier, {}, {}))
    assert imported is not None
    assert imported.outputs["name"] == "s"

    change = {**INPUTS, "templateBody": thing_template(More="x")}
    assert plugin.diff(STACK, made, change) == (["outputs", "templateBody"], [])
    made = plugin.update(STACK, made, change)
    assert made.outputs["outputs"] == {"Name": "thing"}

    plugin.delete(STACK, made)
    assert plugin.read(STACK, made) is None
    plugin.delete(STACK, made)


def test_a_failed_creation_says_why_and_stays_in_the_state(plugin: Plugin, stacks: Stacks) -> None:
    body = thing_template(Fail="boom: no such thing")
    with pytest.raises(RefusedError) as caught:
        plugin.create(STACK, {**INPUTS, "name": "f", "templateBody": body})
    said = str(caught.value)
    assert "create: stack status (ROLLBACK_COMPLETE): " in said
    assert "boom: no such thing" in said
    assert "grpc-status-details-bin" in plugin.last.details
    plugin.delete(STACK, Made(stacks.described("f")["StackId"], {}, {}))


def test_a_failed_creation_that_is_deleted_leaves_nothing(plugin: Plugin, stacks: Stacks) -> None:
    body = thing_template(Fail="boom: no such thing")
    with pytest.raises(RefusedError, match=r"\(DELETE_COMPLETE\): (?s:.*)boom: no such thing"):
        plugin.create(STACK, {**INPUTS, "name": "g", "templateBody": body, "onFailure": "DELETE"})
    kept = plugin.kept()
    assert kept is not None
    assert plugin.read(STACK, kept) is None
    assert stacks.status("g") == "DELETE_COMPLETE"


def test_a_failed_update_says_why(plugin: Plugin) -> None:
    made = plugin.create(STACK, {**INPUTS, "name": "u"})
    change = {**made.inputs, "templateBody": thing_template(Fail="boom")}
    with pytest.raises(RefusedError, match=r"update: stack status \(UPDATE_ROLLBACK_COMPLETE\)"):
        plugin.update(STACK, made, change)
    plugin.delete(STACK, made)


def test_a_call_that_is_refused_names_its_code(plugin: Plugin) -> None:
    with pytest.raises(RefusedError, match=r"CreateStack, .* InsufficientCapabilitiesException"):
        plugin.create(STACK, {**INPUTS, "name": "c", "capabilities": []})
