"""Facts of an existing Slurm cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from trainyard.components.account.facts import KeyPairFacts
from trainyard.components.account.reader import AccountReader, AccountUnreachableError
from trainyard.components.parallelcluster.lookup import (
    look_up_deployed,
    look_up_deployed_key,
    look_up_fleet_stopped,
)

STACK = "pc-gpu-deployment"
CONFIGURATION = {"Image": {"Os": "alinux2023"}}
TEMPLATE = {
    "Resources": {"PclusterCluster": {"Properties": {"ClusterConfiguration": CONFIGURATION}}}
}


@pytest.fixture(scope="module")
def account() -> Iterator[AccountReader]:
    """One reader for all tests: its clients take time to create."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ACCESS_KEY_ID", "sandbox")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "sandbox")
        yield AccountReader(region="us-west-2")


@pytest.fixture
def reader(account: AccountReader) -> AccountReader:
    account.unreadable.clear()
    return account


@pytest.fixture
def answers(reader: AccountReader, monkeypatch: pytest.MonkeyPatch):
    """Return the stub of the client that the reader uses, which fails on a call it does not expect.

    botocore checks every request and answer against the service's own model.
    """
    stubs: dict[str, Stubber] = {}
    clients: dict[str, Any] = {}

    def stub(service: str) -> Stubber:
        if service not in stubs:
            clients[service] = AccountReader.client(reader, service)
            stubs[service] = Stubber(clients[service])
            stubs[service].activate()
        return stubs[service]

    def client(service: str) -> Any:
        stub(service)
        return clients[service]

    monkeypatch.setattr(reader, "client", client)
    yield stub
    for each in stubs.values():
        each.deactivate()  # the reader keeps its clients
        each.assert_no_pending_responses()


def stack(status: str) -> dict[str, Any]:
    return {
        "Stacks": [
            {"StackName": STACK, "CreationTime": "2026-11-21T00:00:00Z", "StackStatus": status}
        ]
    }


def test_the_configuration_is_that_of_the_stack_s_template(reader, answers):
    expected = {"StackName": STACK}
    answers("cloudformation").add_response("describe_stacks", stack("UPDATE_COMPLETE"), expected)
    answers("cloudformation").add_response(
        "get_template", {"TemplateBody": json.dumps(TEMPLATE)}, expected
    )
    assert look_up_deployed(reader, STACK) == CONFIGURATION


def test_without_a_stack_nothing_is_deployed(reader, answers):
    answers("cloudformation").add_client_error(
        "describe_stacks", "ValidationError", f"Stack with id {STACK} does not exist"
    )
    assert look_up_deployed(reader, STACK) is None
    assert reader.unreadable == []


@pytest.mark.parametrize(
    "status", ["CREATE_IN_PROGRESS", "CREATE_FAILED", "ROLLBACK_COMPLETE", "DELETE_FAILED"]
)
def test_a_creation_that_failed_binds_nobody(status, reader, answers):
    answers("cloudformation").add_response("describe_stacks", stack(status))
    assert look_up_deployed(reader, STACK) is None


def test_what_may_not_be_read_is_said(reader, answers):
    answers("cloudformation").add_response("describe_stacks", stack("CREATE_COMPLETE"))
    answers("cloudformation").add_client_error("get_template", "AccessDenied")
    assert look_up_deployed(reader, STACK) is None
    assert reader.unreadable == ["cloudformation:GetTemplate: AccessDenied"]


def test_another_error_is_an_error(reader, answers):
    answers("cloudformation").add_client_error("describe_stacks", "ValidationError", "too long")
    with pytest.raises(AccountUnreachableError, match="too long") as raised:
        look_up_deployed(reader, STACK)
    assert isinstance(raised.value.__cause__, ClientError)


@pytest.mark.parametrize(
    ("status", "stopped"), [("RUNNING", False), ("STOP_REQUESTED", False), ("STOPPED", True)]
)
def test_the_fleet_is_stopped_when_parallelcluster_s_table_says_so(
    status, stopped, reader, answers
):
    answers("dynamodb").add_response(
        "get_item",
        {"Item": {"Id": {"S": "COMPUTE_FLEET"}, "Data": {"M": {"status": {"S": status}}}}},
        {
            "TableName": "parallelcluster-slurm-pc-gpu",
            "Key": {"Id": {"S": "COMPUTE_FLEET"}},
            "ConsistentRead": True,
        },
    )
    assert look_up_fleet_stopped(reader, "pc-gpu") is stopped


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException"])
def test_a_fleet_that_cannot_be_read_counts_as_running(code, reader, answers):
    answers("dynamodb").add_client_error("get_item", code)
    assert look_up_fleet_stopped(reader, "pc-gpu") is False


def test_the_key_of_the_head_node_is_that_of_the_deployed_configuration(reader, answers):
    answers("ec2").add_response(
        "describe_key_pairs",
        {"KeyPairs": [{"PublicKey": "ssh-rsa AAAA", "Tags": [{"Key": "team", "Value": "a"}]}]},
        {"KeyNames": ["key-1"], "IncludePublicKey": True},
    )
    found = look_up_deployed_key(reader, {"HeadNode": {"Ssh": {"KeyName": "key-1"}}})
    assert found == KeyPairFacts(name="key-1", public_key="ssh-rsa AAAA", tags={"team": "a"})


def test_a_key_pair_that_is_gone_says_nothing(reader, answers):
    answers("ec2").add_client_error("describe_key_pairs", "InvalidKeyPair.NotFound")
    assert look_up_deployed_key(reader, {"HeadNode": {"Ssh": {"KeyName": "key-1"}}}) is None


def test_a_head_node_without_a_key_is_not_asked_for(reader):
    assert look_up_deployed_key(reader, {"HeadNode": {"Ssh": {"AllowedIps": "0.0.0.0/0"}}}) is None
