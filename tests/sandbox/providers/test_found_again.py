"""What a provider made is found again by what the state knows of its create, of every type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from components.tagging import RESOURCE_TAG
from sandbox.aws.server import AwsServer
from sandbox.providers.aws.registry import RESOURCE_TYPES
from tests.support.aws_cases import GROUP, Case, cases
from tests.support.batch_cases import batch_cases
from tests.support.network_cases import network_cases
from tests.support.provider_plugin import Made, Plugin, urn
from tests.support.sandbox_aws import Account
from tools.workspace.environment import process_environment
from tools.workspace.recovery.account import Account as Read
from tools.workspace.recovery.account import Progress, tag_of
from tools.workspace.recovery.operations import PendingCreate
from tools.workspace.recovery.table import WAYS, way_of
from tools.workspace.recovery.ways import Look

STACK = "aws:cloudformation/stack:Stack"
"""Needs CloudFormation beside the account: the kills of whole stacks have it."""
LOOKED_FOR = sorted(t for t in RESOURCE_TYPES.keys() - {STACK} if WAYS[t].look is not None)
TAGGABLE = sorted(t for t in RESOURCE_TYPES.keys() - {STACK} if "tags" in RESOURCE_TYPES[t].inputs)
NOT_LOOKED_FOR = sorted(t for t in RESOURCE_TYPES if WAYS[t].look is None)


@pytest.fixture
def case(request: pytest.FixtureRequest, account: Account) -> Case:
    made = (*cases(account), *network_cases(account), *batch_cases(account))
    return next(each for each in made if each.token == request.param)


@pytest.fixture
def read(server: AwsServer) -> Iterator[Read]:
    """The account as a recovery reads it."""
    keys = {"AWS_ACCESS_KEY_ID": "sandbox", "AWS_SECRET_ACCESS_KEY": "sandbox"}
    own = {**os.environ, **keys, "AWS_ENDPOINT_URL": server.endpoint}
    with process_environment(own):
        yield Read("us-west-2")


def begun(aws: Plugin, case: Case, name: str = "it") -> PendingCreate:
    """Return the create of a case as the state has it: with the inputs that were checked."""
    inputs, failures = aws.check(case.token, tagged(case, name), name=name)
    assert not failures
    return PendingCreate(urn(case.token, name), inputs)


def tagged(case: Case, name: str) -> dict[str, Any]:
    """Return what the program writes, with the tag that every resource carries."""
    if "tags" not in RESOURCE_TYPES[case.token].inputs:
        return case.inputs
    value = tag_of(PendingCreate(urn(case.token, name), {}))
    if case.token == GROUP:
        own = {"key": RESOURCE_TAG, "value": value, "propagateAtLaunch": False}
        return {**case.inputs, "tags": [*case.inputs.get("tags", []), own]}
    return {**case.inputs, "tags": {**case.inputs.get("tags", {}), RESOURCE_TAG: value}}


def look_of(token: str) -> Look:
    way = way_of(token)
    assert way is not None
    assert way.look is not None
    return way.look


@pytest.mark.parametrize("case", LOOKED_FOR, indirect=True)
def test_what_was_made_is_found_and_reads_as_the_program_wrote_it(
    aws: Plugin, read: Read, case: Case
) -> None:
    create, look = begun(aws, case), look_of(case.token)
    assert look(read, create) == []
    made = aws.create(case.token, tagged(case, "it"))
    (found,) = look(read, create)
    assert found.progress is Progress.READY
    assert found.tags is None or found.tags[RESOURCE_TAG] == tag_of(create)
    # As the engine reads it: by id, with the inputs in the place of what it knew.
    now = aws.read(case.token, Made(found.identifier, dict(create.inputs), dict(create.inputs)))
    assert now is not None
    assert now.identifier == made.identifier
    assert now.inputs == made.inputs
    assert aws.diff(case.token, now, tagged(case, "it")) == ([], [])


@pytest.mark.parametrize("case", ["aws:ec2/eip:Eip"], indirect=True)
def test_two_of_the_same_resource_are_both_found(aws: Plugin, read: Read, case: Case) -> None:
    create = begun(aws, case)
    made = {aws.create(case.token, tagged(case, "it")).identifier for _ in range(2)}
    assert {found.identifier for found in look_of(case.token)(read, create)} == made


@pytest.mark.parametrize("case", ["aws:ec2/securityGroup:SecurityGroup"], indirect=True)
def test_a_security_group_that_was_left_with_the_rule_of_aws_is_half_made(
    aws: Plugin, account: Account, read: Read, case: Case
) -> None:
    create = begun(aws, case)
    group_id = aws.create(case.token, tagged(case, "it")).identifier
    everywhere = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    account.ec2.authorize_security_group_egress(GroupId=group_id, IpPermissions=[everywhere])
    (found,) = look_of(case.token)(read, create)
    assert (found.identifier, found.progress) == (group_id, Progress.FAILED)


@pytest.mark.parametrize("case", TAGGABLE, indirect=True)
def test_an_object_from_before_the_tag_gets_it_in_place(aws: Plugin, case: Case) -> None:
    made = aws.create(case.token, case.inputs)
    assert aws.diff(case.token, made, tagged(case, "it")) == (["tags"], [])
    assert RESOURCE_TAG in str(aws.update(case.token, made, tagged(case, "it")).outputs["tags"])


@pytest.mark.parametrize("case", NOT_LOOKED_FOR, indirect=True)
def test_what_is_not_looked_for_can_be_made_twice(aws: Plugin, case: Case) -> None:
    first = aws.create(case.token, case.inputs)
    assert aws.create(case.token, case.inputs).identifier == first.identifier
