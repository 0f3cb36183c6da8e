"""CloudFormation and Lambda in a sandbox that has no environment for them."""

from __future__ import annotations

import pytest

from tests.support.sandbox_aws import Account, refused


def test_their_calls_are_refused_with_the_way_out(account: Account) -> None:
    said = ("ParallelCluster's Python environment", "./trainyard up")
    with refused("SandboxNotImplemented", *said):
        account.client("cloudformation").create_stack(StackName="s", TemplateBody="{}")
    with refused("SandboxNotImplemented", *said):
        account.client("lambda").list_functions()


def test_there_are_no_stacks(account: Account) -> None:
    client = account.client("cloudformation")
    with refused("ValidationError", "Stack with id s does not exist"):
        client.describe_stacks(StackName="s")
    assert client.list_stacks()["StackSummaries"] == []
    assert client.describe_stacks()["Stacks"] == []


def test_an_environment_that_comes_later_is_looked_for_until_it_is_there(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The account persists: the first ParallelCluster stack does not require a new sandbox."""
    asked: list[str] = []
    forwarder = account.server.application.forwarder
    monkeypatch.setattr(forwarder, "look_for", lambda: asked.append("looked"))
    for _ in range(2):
        with refused("SandboxNotImplemented", "./trainyard up"):
            account.client("lambda").list_functions()
    assert asked == ["looked", "looked"]
