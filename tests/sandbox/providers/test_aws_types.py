"""Every type of the AWS provider through its life in the emulated account."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.aws_cases import Case, cases
from tests.support.batch_cases import batch_cases
from tests.support.network_cases import network_cases
from tests.support.provider_plugin import Made, Plugin, RefusedError
from tests.support.sandbox_aws import Account

pytestmark = pytest.mark.engine

ACCEPTER = "aws:ram/resourceShareAccepter:ResourceShareAccepter"
TOKENS = (
    "aws:autoscaling/group:Group",
    "aws:autoscaling/lifecycleHook:LifecycleHook",
    "aws:autoscaling/schedule:Schedule",
    "aws:batch/computeEnvironment:ComputeEnvironment",
    "aws:batch/jobDefinition:JobDefinition",
    "aws:batch/jobQueue:JobQueue",
    "aws:cloudwatch/logGroup:LogGroup",
    "aws:ec2/eip:Eip",
    "aws:ec2/flowLog:FlowLog",
    "aws:ec2/internetGateway:InternetGateway",
    "aws:ec2/keyPair:KeyPair",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/natGateway:NatGateway",
    "aws:ec2/placementGroup:PlacementGroup",
    "aws:ec2/route:Route",
    "aws:ec2/routeTable:RouteTable",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:ec2/securityGroup:SecurityGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/vpc:Vpc",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    "aws:ecr/lifecyclePolicy:LifecyclePolicy",
    "aws:ecr/repository:Repository",
    "aws:ecr/repositoryPolicy:RepositoryPolicy",
    "aws:eks/accessEntry:AccessEntry",
    "aws:eks/addon:Addon",
    "aws:eks/cluster:Cluster",
    "aws:eks/nodeGroup:NodeGroup",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:iam/instanceProfile:InstanceProfile",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
    "aws:iam/role:Role",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    ACCEPTER,
    "aws:resourcegroups/group:Group",
    "aws:resourcegroups/resource:Resource",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
)


@pytest.fixture(params=TOKENS)
def case(request: pytest.FixtureRequest, account: Account) -> Case:
    made = (*cases(account), *network_cases(account), *batch_cases(account))
    assert sorted(each.token for each in made) == sorted(TOKENS)
    return next(each for each in made if each.token == request.param)


def test_a_resource_lives_from_up_to_destroy(aws_provider: Plugin, case: Case) -> None:
    made = aws_provider.create(case.token, case.inputs)
    assert aws_provider.diff(case.token, made, case.inputs) == ([], [])
    if case.change is not None:
        made = changed(aws_provider, case, made, case.change)
    aws_provider.delete(case.token, made)
    aws_provider.delete(case.token, made)  # what is gone already is no error


def changed(aws: Plugin, case: Case, made: Made, change: dict[str, Any]) -> Made:
    """Change a resource in place; nothing else changes, and the next `up` changes nothing."""
    news = {**case.inputs, **change}
    differences, replaces = aws.diff(case.token, made, news)
    assert {*differences} - {"tagsAll"} == change.keys() | case.follows
    assert replaces == []
    made = aws.update(case.token, made, news)
    assert holds(legible(made.outputs), legible(change))
    assert aws.diff(case.token, made, news) == ([], [])
    found = aws.read(case.token, made)
    assert found is not None
    assert legible(found.outputs) == legible(made.outputs)
    return made


def test_a_refresh_finds_nothing_to_change(aws_provider: Plugin, case: Case) -> None:
    made = aws_provider.create(case.token, case.inputs)
    found = aws_provider.read(case.token, made)
    assert found is not None
    assert legible(found.outputs) == legible(made.outputs)
    assert aws_provider.diff(case.token, found, case.inputs) == ([], [])


def test_a_refresh_finds_that_a_resource_is_gone(aws_provider: Plugin, case: Case) -> None:
    if case.token == ACCEPTER:
        pytest.skip("the provider looks for the invitation for two minutes")
    made = aws_provider.create(case.token, case.inputs)
    aws_provider.delete(case.token, made)
    if case.has_identity:
        with pytest.raises(RefusedError, match="Missing Resource Identity After Read"):
            aws_provider.read(case.token, made)
    else:
        assert aws_provider.read(case.token, made) is None


def test_an_import_finds_what_the_program_wrote(aws_provider: Plugin, case: Case) -> None:
    made = aws_provider.create(case.token, case.inputs)
    identifier = case.imported_as.format(id=made.identifier, **case.inputs)
    imported = aws_provider.read(case.token, Made(identifier, {}, {}))
    assert imported is not None
    assert imported.identifier == made.identifier
    assert imported.outputs["arn" if "arn" in made.outputs else next(iter(case.inputs))]


def test_what_aws_cannot_change_replaces(aws_provider: Plugin, case: Case) -> None:
    made = aws_provider.create(case.token, case.inputs)
    _, replaces = aws_provider.diff(case.token, made, {**case.inputs, **case.replacing})
    assert replaces == sorted(case.replacing)


def holds(found: Any, wanted: Any) -> bool:
    """Return whether outputs are what was asked for; the provider may add properties."""
    if isinstance(wanted, dict):
        return all(key in found and holds(found[key], wanted[key]) for key in wanted)
    return found == wanted


def legible(value: Any) -> Any:
    """Return outputs without what is empty and what only the bridge reads; documents as values."""
    if isinstance(value, dict):
        cleaned = {key: legible(inner) for key, inner in value.items() if not key.startswith("__")}
        return {key: inner for key, inner in cleaned.items() if inner not in (None, {}, [], "")}
    if isinstance(value, list):
        return [legible(inner) for inner in value]
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value
