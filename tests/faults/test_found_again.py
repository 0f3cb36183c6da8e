"""Resources of every type are found again by the pending create in the state.

They are found in the account, and the provider reads them as for the engine after a kill.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.aws_cases import GROUP, Case
from tests.support.faults.account import Faulty
from tests.support.provider_plugin import Made, Plugin, urn
from trainyard.components.tagging import RESOURCE_TAG
from trainyard.engine.environment import process_environment
from trainyard.sandbox.aws.server import AwsServer
from trainyard.workspace.recovery.account import LookupAccount as Read
from trainyard.workspace.recovery.account import ObjectProgress, tag_of
from trainyard.workspace.recovery.lookups import Look
from trainyard.workspace.recovery.operations import PendingCreate, read_by
from trainyard.workspace.recovery.table import LOOKUPS, lookup_of

STACK = "aws:cloudformation/stack:Stack"
"""Needs CloudFormation in addition to the account; the tests that kill whole stacks cover it."""
UNTAGGED = frozenset(
    {
        "aws:autoscaling/lifecycleHook:LifecycleHook",
        "aws:autoscaling/schedule:Schedule",
        "aws:cloudwatch/dashboard:Dashboard",
        "aws:cloudwatch/eventTarget:EventTarget",
        "aws:cloudwatch/logMetricFilter:LogMetricFilter",
        "aws:ec2/route:Route",
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
        "aws:ecr/lifecyclePolicy:LifecyclePolicy",
        "aws:ecr/repositoryPolicy:RepositoryPolicy",
        "aws:iam/rolePolicy:RolePolicy",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "aws:ram/resourceShareAccepter:ResourceShareAccepter",
        "aws:resourcegroups/resource:Resource",
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        "aws:s3/bucketPolicy:BucketPolicy",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        "aws:scheduler/schedule:Schedule",
        "aws:sns/topicPolicy:TopicPolicy",
        "aws:sns/topicSubscription:TopicSubscription",
    }
)
"""Types that cannot have tags."""
COMPUTED = {
    "aws:ec2/natGateway:NatGateway": frozenset(
        {"regionalNatGatewayAddresses", "secondaryAllocationIds", "secondaryPrivateIpAddresses"}
    )
}
"""Empty sets that AWS computes, and that a read without a previous state omits: updating them makes
no API call."""
TYPES = {token for token in LOOKUPS if token.startswith("aws:")} - {STACK}
LOOKED_FOR = sorted(token for token in TYPES if LOOKUPS[token].look is not None)
TAGGABLE = sorted(TYPES - UNTAGGED)
NOT_LOOKED_FOR = sorted(token for token in TYPES if LOOKUPS[token].look is None)


@pytest.fixture
def aws(faulty: Faulty) -> Plugin:
    """The provider."""
    return faulty.plugin


@pytest.fixture
def case(request: pytest.FixtureRequest, faulty: Faulty) -> Case:
    return faulty.cases[request.param]


@pytest.fixture
def read(server: AwsServer) -> Iterator[Read]:
    """The account as the recovery reads it."""
    with process_environment({**os.environ, **server.access.environment}):
        yield Read("us-west-2")


def begun(aws: Plugin, case: Case) -> PendingCreate:
    """Return the pending create of a case as in the state: with the checked inputs."""
    inputs, failures = aws.check(case.token, tagged(case))
    assert not failures
    return PendingCreate(urn(case.token), inputs)


def tagged(case: Case) -> dict[str, Any]:
    """Return the program's inputs, with the tag of every resource."""
    if case.token in UNTAGGED:
        return case.inputs
    value = tag_of(PendingCreate(urn(case.token), {}))
    if case.token == GROUP:
        own = {"key": RESOURCE_TAG, "value": value, "propagateAtLaunch": False}
        return {**case.inputs, "tags": [*case.inputs.get("tags", []), own]}
    return {**case.inputs, "tags": {**case.inputs.get("tags", {}), RESOURCE_TAG: value}}


def look_of(token: str) -> Look:
    way = lookup_of(token)
    assert way is not None
    assert way.look is not None
    return way.look


@pytest.mark.parametrize("case", LOOKED_FOR, indirect=True)
def test_what_was_made_is_found_and_reads_as_the_program_wrote_it(
    aws: Plugin, read: Read, case: Case
) -> None:
    create, look = begun(aws, case), look_of(case.token)
    assert look(read, create) == []
    made = aws.create(case.token, tagged(case))
    (found,) = look(read, create)
    assert found.progress is ObjectProgress.READY
    assert found.tags is None or found.tags[RESOURCE_TAG] == tag_of(create)
    outputs = read_by(case.token, create.inputs, found.identifier)
    now = aws.read(case.token, Made(found.identifier, dict(create.inputs), outputs))
    assert now is not None
    assert now.identifier == made.identifier
    changed, replaced = aws.diff(case.token, now, tagged(case))
    assert set(changed) <= COMPUTED.get(case.token, frozenset())
    assert not replaced
    aws.delete(case.token, now)


@pytest.mark.parametrize("case", ["aws:ec2/eip:Eip"], indirect=True)
def test_two_of_the_same_resource_are_both_found(aws: Plugin, read: Read, case: Case) -> None:
    create = begun(aws, case)
    made = [aws.create(case.token, tagged(case)) for _ in range(2)]
    found = {each.identifier for each in look_of(case.token)(read, create)}
    assert found == {each.identifier for each in made}
    for each in made:
        aws.delete(case.token, each)


@pytest.mark.parametrize("case", ["aws:ec2/securityGroup:SecurityGroup"], indirect=True)
def test_a_security_group_that_was_left_with_the_rule_of_aws_is_half_made(
    faulty: Faulty, aws: Plugin, read: Read, case: Case
) -> None:
    create = begun(aws, case)
    made = aws.create(case.token, tagged(case))
    group_id = made.identifier
    everywhere = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    faulty.account.ec2.authorize_security_group_egress(GroupId=group_id, IpPermissions=[everywhere])
    (found,) = look_of(case.token)(read, create)
    assert (found.identifier, found.progress) == (group_id, ObjectProgress.FAILED)
    aws.delete(case.token, made)


@pytest.mark.parametrize("case", TAGGABLE, indirect=True)
def test_an_object_from_before_the_tag_gets_it_in_place(aws: Plugin, case: Case) -> None:
    made = aws.create(case.token, case.inputs, name="old")
    changed, replaced = aws.diff(case.token, made, tagged(case))
    assert "tags" in changed
    assert not replaced
    updated = aws.update(case.token, made, tagged(case))
    assert RESOURCE_TAG in str(updated.outputs["tags"])
    aws.delete(case.token, updated)


@pytest.mark.parametrize("case", NOT_LOOKED_FOR, indirect=True)
def test_what_is_not_looked_for_can_be_made_twice(aws: Plugin, case: Case) -> None:
    first = aws.create(case.token, case.inputs)
    second = aws.create(case.token, case.inputs)
    assert second.identifier == first.identifier
    aws.delete(case.token, second)
