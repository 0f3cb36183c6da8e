"""Duplicates after a lost answer are found by tag, in an account with other stacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.sandbox_aws import Account as Client
from tests.support.sandbox_aws import use_account
from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import LookupAccount
from trainyard.workspace.recovery.duplicates import Duplicate, duplicates
from trainyard.workspace.recovery.timeouts import Timeouts

AT_ONCE = Timeouts(settle=0, poll=0, limit=0)

Look = Callable[..., list[Duplicate]]


@pytest.fixture
def look(account: Client, monkeypatch: pytest.MonkeyPatch) -> Look:
    """Look for duplicates of stack p5, given the ids in its state."""
    use_account(monkeypatch, account.server.access)

    def found(known: Callable[[], set[str]], timeouts: Timeouts = AT_ONCE) -> list[Duplicate]:
        reader = LookupAccount("us-west-2")
        return duplicates(reader, stack="p5", project="trainyard", known=known, timeouts=timeouts)

    return found


def _tags(kind: str, token: str, name: str, stack: str = "p5") -> list[dict[str, Any]]:
    tag = {"Key": RESOURCE_TAG, "Value": f"{stack}::trainyard::{token}::{name}"}
    return [{"ResourceType": kind, "Tags": [tag]}]


def _vpc(account: Client, stack: str = "p5") -> str:
    tags = _tags("vpc", "aws:ec2/vpc:Vpc", "p5-network-vpc", stack)
    return account.ec2.create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=tags)["Vpc"]["VpcId"]


def _never() -> set[str]:
    raise AssertionError("the state was read for nothing")


def test_where_the_account_has_nothing_of_the_stack_its_state_is_not_read(
    account: Client, look: Look
) -> None:
    _vpc(account, stack="p5-cb")
    assert look(_never) == []


def test_what_the_state_has_is_no_double(account: Client, look: Look) -> None:
    made = _vpc(account)
    assert look(lambda: {made}) == []


def test_what_the_state_does_not_have_is_named_with_what_deletes_it(
    account: Client, look: Look
) -> None:
    kept, ec2 = _vpc(account), account.ec2
    second = _vpc(account)
    gateway = ec2.create_internet_gateway(
        TagSpecifications=_tags(
            "internet-gateway", "aws:ec2/internetGateway:InternetGateway", "p5-network-gateway"
        )
    )["InternetGateway"]["InternetGatewayId"]
    address = ec2.allocate_address(
        Domain="vpc", TagSpecifications=_tags("elastic-ip", "aws:ec2/eip:Eip", "p5-network-address")
    )["AllocationId"]
    found = look(lambda: {kept})
    assert {each.identifier: each.resource for each in found} == {
        second: "p5-network-vpc",
        gateway: "p5-network-gateway",
        address: "p5-network-address",
    }
    for each in found:
        _do(account, each.command)
    assert look(lambda: {kept}) == []


def _do(account: Client, command: str) -> None:
    """Execute a command of the AWS CLI: its names are those of the API, with hyphens."""
    match = re.fullmatch(r"aws ec2 ([a-z-]+) --([a-z-]+) (\S+)", command)
    assert match
    operation, option, value = match.groups()
    parameter = "".join(word.title() for word in option.split("-"))
    getattr(account.ec2, operation.replace("-", "_"))(**{parameter: value})


def test_what_aws_only_shows_a_while_longer_is_no_double(account: Client, look: Look) -> None:
    made = _vpc(account)

    def gone_after_the_first_look() -> set[str]:
        account.ec2.delete_vpc(VpcId=made)
        return set()

    assert look(gone_after_the_first_look, Timeouts(settle=60, poll=0, limit=0)) == []
