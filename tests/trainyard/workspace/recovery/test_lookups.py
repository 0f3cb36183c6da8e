"""What the recovery makes of the answers of AWS: in the making, failed, ready, or not its object.

The states are those of the service models in botocore.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import botocore.session
import pytest
from botocore.exceptions import ClientError

from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import (
    FoundObject,
    LookupAccount,
    ObjectProgress,
    is_missing,
    tag_of,
)
from trainyard.workspace.recovery.duplicates import duplicates
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.table import lookup_of
from trainyard.workspace.recovery.timeouts import Timeouts

PREFIX = "urn:pulumi:p5::trainyard::"
MAKING, FAILED, READY = ObjectProgress.MAKING, ObjectProgress.FAILED, ObjectProgress.READY


class Answers:
    """An account with one answer; `client` is for the tags of an object."""

    def __init__(self, *items: dict[str, Any]) -> None:
        self.items = items
        self.asked: list[dict[str, Any]] = []

    def all(self, _service: str, _operation: str, _key: str, **asked: Any) -> list[Any]:
        self.asked.append(asked)
        return list(self.items)

    def one(self, *_: str, **asked: Any) -> Any:
        self.asked.append(asked)
        return self.items[0] if self.items else None

    def client(self, _: str) -> Answers:
        return self

    def list_tags_for_resource(self, **_: str) -> dict[str, Any]:
        return {"Tags": [], "tags": {}}


def create(token: str, **inputs: Any) -> PendingCreate:
    return PendingCreate(f"{PREFIX}{token}::x", inputs)


def look(made: PendingCreate, *items: dict[str, Any]) -> list[FoundObject]:
    lookup = lookup_of(made.type_token)
    assert lookup is not None
    assert lookup.look is not None
    account: Any = Answers(*items)
    return lookup.look(account, made)


def own(made: PendingCreate) -> dict[str, Any]:
    """Return the tags of the object of a create, as lists of pairs."""
    return {"Tags": [{"Key": RESOURCE_TAG, "Value": tag_of(made)}]}


CLUSTER = create("aws:eks/cluster:Cluster", name="c")
GROUP = create("aws:eks/nodeGroup:NodeGroup", clusterName="c", nodeGroupName="g")
ADDON = create("aws:eks/addon:Addon", clusterName="c", addonName="a")
ENVIRONMENT = create("aws:batch/computeEnvironment:ComputeEnvironment")
QUEUE = create("aws:batch/jobQueue:JobQueue", name="q")
GATEWAY = create("aws:ec2/natGateway:NatGateway")
ENDPOINT = create("aws:ec2/vpcEndpoint:VpcEndpoint")
RANGE = create(
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
    vpcId="vpc-1",
    cidrBlock="10.1.0.0/16",
)
PLACEMENT = create("aws:ec2/placementGroup:PlacementGroup", name="pg")
LUSTRE = create("aws:fsx/lustreFileSystem:LustreFileSystem")
STACK = create("aws:cloudformation/stack:Stack", name="s")
SCALING = create("aws:autoscaling/group:Group", name="g")


def batch(name: str, made: PendingCreate) -> Callable[[str], dict[str, Any]]:
    tags = {RESOURCE_TAG: tag_of(made)}
    return lambda state: {name: "x", "status": state, "tags": tags}


def cidr(state: str) -> dict[str, Any]:
    block = {"AssociationId": "a", "CidrBlock": "10.1.0.0/16", "CidrBlockState": {"State": state}}
    return {"CidrBlockAssociationSet": [block]}


IN_EKS = {"CREATING": MAKING, "UPDATING": MAKING, "DELETING": None, "CREATE_FAILED": FAILED}
IN_BATCH = {
    "CREATING": MAKING,
    "UPDATING": MAKING,
    "INVALID": FAILED,
    "DELETING": None,
    "DELETED": None,
}
OF_STACKS = {
    "CREATE_FAILED": FAILED,
    "ROLLBACK_COMPLETE": FAILED,
    "ROLLBACK_FAILED": FAILED,
    "DELETE_IN_PROGRESS": None,
    "DELETE_FAILED": None,
    "DELETE_COMPLETE": None,
}
CASES: tuple[tuple[PendingCreate, str, str, Any, dict[str, ObjectProgress | None]], ...] = (
    (
        CLUSTER,
        "eks",
        "ClusterStatus",
        lambda s: {"status": s},
        {**IN_EKS, "PENDING": MAKING, "FAILED": FAILED},
    ),
    (GROUP, "eks", "NodegroupStatus", lambda s: {"status": s}, IN_EKS),
    (ADDON, "eks", "AddonStatus", lambda s: {"status": s}, IN_EKS),
    (
        ENVIRONMENT,
        "batch",
        "CEStatus",
        batch("computeEnvironmentName", ENVIRONMENT),
        IN_BATCH,
    ),
    (QUEUE, "batch", "JQStatus", batch("jobQueueArn", QUEUE), IN_BATCH),
    (
        GATEWAY,
        "ec2",
        "NatGatewayState",
        lambda s: {"NatGatewayId": "nat-1", "State": s, **own(GATEWAY)},
        {"pending": MAKING, "failed": FAILED, "deleting": None, "deleted": None},
    ),
    (
        ENDPOINT,
        "ec2",
        "State",
        lambda s: {"VpcEndpointId": "vpce-1", "State": s, **own(ENDPOINT)},
        {"Pending": MAKING, "Failed": FAILED, "Deleting": None, "Deleted": None},
    ),
    (
        RANGE,
        "ec2",
        "VpcCidrBlockStateCode",
        cidr,
        {"associating": MAKING, "disassociating": None, "disassociated": None, "failed": None},
    ),
    (
        PLACEMENT,
        "ec2",
        "PlacementGroupState",
        lambda s: {"GroupName": "pg", "State": s},
        {"deleting": None, "deleted": None},
    ),
    (
        LUSTRE,
        "fsx",
        "FileSystemLifecycle",
        lambda s: {
            "FileSystemId": "fs-1",
            "FileSystemType": "LUSTRE",
            "Lifecycle": s,
            **own(LUSTRE),
        },
        {"CREATING": MAKING, "FAILED": FAILED, "DELETING": None},
    ),
    (
        STACK,
        "cloudformation",
        "StackStatus",
        lambda s: {"StackId": "arn", "StackStatus": s},
        OF_STACKS,
    ),
)


@pytest.mark.parametrize(
    ("made", "service", "shape", "answer", "expected"), CASES, ids=[c[2] for c in CASES]
)
def test_every_state_of_the_service_has_its_meaning(
    made: PendingCreate,
    service: str,
    shape: str,
    answer: Callable[[str], dict[str, Any]],
    expected: dict[str, ObjectProgress | None],
) -> None:
    """An object that AWS deletes is not the one that a create has made; others are ready.

    In CloudFormation, `…_IN_PROGRESS` states are being completed.
    """
    states = botocore.session.get_session().get_service_model(service).shape_for(shape).enum
    assert states
    for state in states:
        usual = MAKING if made is STACK and state.endswith("_IN_PROGRESS") else READY
        found = look(made, answer(state))
        meaning = found[0].progress if found else None
        assert (state, meaning) == (state, expected.get(state, usual))


def test_an_auto_scaling_group_has_a_status_only_while_it_is_being_deleted() -> None:
    """https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_AutoScalingGroup.html"""
    assert look(SCALING, {"AutoScalingGroupName": "g"})
    assert not look(SCALING, {"AutoScalingGroupName": "g", "Status": "Delete in progress"})


def test_an_object_with_the_tag_of_another_resource_is_not_its_own() -> None:
    """An endpoint may ignore the filter."""
    vpc, other = (create("aws:ec2/vpc:Vpc"), create("aws:ec2/subnet:Subnet"))
    assert look(vpc, {"VpcId": "vpc-1", "State": "available", **own(vpc)})
    assert not look(vpc, {"VpcId": "vpc-1", "State": "available", **own(other)})
    assert not look(vpc, {"VpcId": "vpc-1", "State": "available"})


def test_a_security_group_with_the_rule_of_a_new_one_has_failed() -> None:
    """https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html"""
    to_everywhere = {"IpPermissionsEgress": [{"IpProtocol": "-1"}]}
    separate = create("aws:ec2/securityGroup:SecurityGroup")
    inline = create("aws:ec2/securityGroup:SecurityGroup", egress=[{"protocol": "-1"}])
    group = {"GroupId": "sg-1", **own(separate)}
    assert [each.progress for each in look(separate, {**group, **to_everywhere})] == [FAILED]
    assert [each.progress for each in look(separate, group)] == [READY]
    assert [each.progress for each in look(inline, {**group, **to_everywhere})] == [READY]


def test_a_route_to_another_destination_is_not_its_own() -> None:
    route = create("aws:ec2/route:Route", routeTableId="rtb-1", destinationCidrBlock="0.0.0.0/0")
    local, out = ({"DestinationCidrBlock": each} for each in ("10.0.0.0/16", "0.0.0.0/0"))
    assert not look(route, {"Routes": [local]})
    assert len(look(route, {"Routes": [local, out]})) == 1


def test_a_subnet_can_be_associated_with_another_route_table() -> None:
    made = create(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        subnetId="subnet-1",
        routeTableId="rtb-1",
    )
    associated = [{"SubnetId": "subnet-1", "RouteTableAssociationId": "rtbassoc-1"}]
    assert look(made, {"RouteTableId": "rtb-1", "Associations": associated})
    assert not look(made, {"RouteTableId": "rtb-2", "Associations": associated})


def test_a_file_system_of_another_kind_is_not_its_own() -> None:
    homes = {"FileSystemId": "fs-2", "Lifecycle": "AVAILABLE", **own(LUSTRE)}
    assert not look(LUSTRE, {**homes, "FileSystemType": "OPENZFS"})
    assert look(LUSTRE, {**homes, "FileSystemType": "LUSTRE"})


def test_the_newest_revision_of_a_job_definition_is_taken() -> None:
    made = create("aws:batch/jobDefinition:JobDefinition", name="train")
    revisions = [{"jobDefinitionArn": f"train:{each}", "revision": each} for each in (9, 10, 2)]
    assert [each.identifier for each in look(made, *revisions)] == ["train:10"]


@pytest.mark.parametrize(
    ("token", "items"),
    [
        (
            "aws:cloudwatch/logGroup:LogGroup",
            [{"logGroupName": each, "arn": f"{each}:*"} for each in ("p5", "p5-cb")],
        ),
        (
            "aws:cloudwatch/eventRule:EventRule",
            [{"Name": each, "Arn": each} for each in ("p5", "p5-cb")],
        ),
        (
            "aws:scheduler/schedule:Schedule",
            [{"Name": each, "GroupName": "default"} for each in ("p5", "p5-cb")],
        ),
        (
            "aws:sns/topic:Topic",
            [{"TopicArn": f"arn:aws:sns:us-west-2:1:{each}"} for each in ("p5", "my-p5")],
        ),
    ],
)
def test_an_object_of_a_longer_name_is_another_one(token: str, items: list[Any]) -> None:
    """AWS searches by the beginning of the name, or lists all objects."""
    assert len(look(create(token, name="p5"), *items)) == 1
    assert not look(create(token, name="p5"), items[1])


def test_the_oidc_provider_of_another_cluster_is_another_one() -> None:
    """https://docs.aws.amazon.com/IAM/latest/APIReference/API_GetOpenIDConnectProvider.html"""
    made = create(
        "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
        url="https://oidc.eks.us-west-2.amazonaws.com/id/AB",
    )
    arn = "arn:aws:iam::1:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/AB"
    assert [each.identifier for each in look(made, {"Arn": f"{arn}CD"}, {"Arn": arn})] == [arn]


@pytest.mark.parametrize(
    ("states", "accepted"),
    [(["ACCEPTED"], True), (["PENDING"], False), (["ACCEPTED", "REJECTED"], False), ([], False)],
)
def test_a_share_counts_when_its_last_invitation_was_accepted(
    states: list[str], accepted: bool
) -> None:
    made = create("aws:ram/resourceShareAccepter:ResourceShareAccepter", shareArn="arn")
    assert bool(look(made, *({"status": each} for each in states))) is accepted


@pytest.mark.parametrize(
    ("code", "message", "missing"),
    [
        ("NoSuchEntity", "", True),
        ("InvalidVpcID.NotFound", "", True),
        ("InvalidPlacementGroup.Unknown", "The Placement Group 'x' is unknown.", True),
        ("ResourceNotFoundException", "", True),
        ("ValidationError", "Stack with id s does not exist", True),
        ("ValidationError", "1 validation error detected: Value at 'stackName'", False),
        ("AccessDenied", "User is not authorized", False),
        ("UnauthorizedOperation", "", False),
        ("Throttling", "Rate exceeded", False),
    ],
)
def test_only_an_answer_about_the_object_says_that_it_is_missing(
    code: str, message: str, missing: bool
) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html"""
    error = ClientError({"Error": {"Code": code, "Message": message}}, "Describe")
    assert is_missing(error) is missing


def test_all_pages_of_an_answer_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Paged:
        def can_paginate(self, _: str) -> bool:
            return True

        def get_paginator(self, _: str) -> Paged:
            return self

        def paginate(self, **_: Any) -> list[dict[str, Any]]:
            return [{"Roles": [1]}, {}, {"Roles": [2]}]

    account = LookupAccount("us-west-2")
    monkeypatch.setattr(account, "client", lambda _: Paged())
    assert account.all("iam", "list_roles", "Roles") == [1, 2]


def test_objects_of_other_stacks_are_no_duplicates() -> None:
    """An endpoint may ignore the filter."""
    other = PendingCreate("urn:pulumi:p5-cb::trainyard::aws:ec2/vpc:Vpc::x", {})
    vpc = create("aws:ec2/vpc:Vpc")

    class Vpcs(Answers):
        def all(self, _service: str, operation: str, _key: str, **_: Any) -> list[Any]:
            return list(self.items) if operation == "describe_vpcs" else []

    account: Any = Vpcs({"VpcId": "vpc-1", **own(vpc)}, {"VpcId": "vpc-2", **own(other)})
    found = duplicates(
        account,
        stack="p5",
        project="trainyard",
        known=lambda: (),
        timeouts=Timeouts(settle=-1, poll=0, limit=0),
    )
    assert [each.identifier for each in found] == ["vpc-1"]
