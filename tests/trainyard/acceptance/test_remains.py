"""What a deleted stack has left: every leak is named with its command, and nothing that is gone.

The commands are run as they are printed, with the operation and the parameters that the AWS CLI
gives them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from tests.support.sandbox_aws import (
    ACCOUNT,
    PRIVATE_A,
    STANDARD_IMAGE,
    Account,
    default_account,
)
from trainyard.acceptance.remains import KINDS, TAGS, MadeObject, made_in, remains
from trainyard.components.tagging import CLUSTER_TAG, PARALLELCLUSTER_TAG

CLUSTER, STACK = "team-a", "dev"
REGION = "us-west-2"


@pytest.fixture(scope="module")
def _account() -> Iterator[Account]:
    with default_account() as opened:
        yield opened


@pytest.fixture
def account(_account: Account) -> Account:
    """The account of the fixture, in which nothing of the cluster is."""
    _account.server.reset()
    return _account


def tagged(kind: str, tags: dict[str, str]) -> list[dict[str, Any]]:
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    return [{"ResourceType": kind, "Tags": listed}]


def volume(account: Account, tags: dict[str, str]) -> str:
    made = account.ec2.create_volume(
        AvailabilityZone="us-west-2a", Size=1, TagSpecifications=tagged("volume", tags)
    )
    return made["VolumeId"]


def instance(account: Account, tags: dict[str, str]) -> str:
    made = account.ec2.run_instances(
        MinCount=1,
        MaxCount=1,
        ImageId=STANDARD_IMAGE,
        InstanceType="c5.large",
        SubnetId=PRIVATE_A,
        TagSpecifications=tagged("instance", tags),
    )
    return made["Instances"][0]["InstanceId"]


def listed_by_tag(account: Account, key: str = CLUSTER_TAG) -> list[str]:
    found = account.client("resourcegroupstaggingapi").get_resources(
        TagFilters=[{"Key": key, "Values": [CLUSTER]}]
    )
    return [each["ResourceARN"] for each in found["ResourceTagMappingList"]]


def run(account: Account, line: str) -> None:
    """Run the command of a line, which names the region unless the object is global."""
    _, service, operation, *options = shlex.split(line.partition("; delete it: ")[2])
    if service != "iam":
        assert options[-2:] == ["--region", REGION]
        del options[-2:]
    client = account.client(service)
    model = client.meta.service_model.operation_model(
        client.meta.method_to_api_mapping[operation.replace("-", "_")]
    )
    names = {f"--{xform_name(name, '-')}": name for name in model.input_shape.members}
    given = dict(zip(options[::2], options[1::2], strict=True))
    arguments = {
        names[option]: [value]
        if model.input_shape.members[names[option]].type_name == "list"
        else value
        for option, value in given.items()
    }
    getattr(client, operation.replace("-", "_"))(**arguments)


def test_what_is_gone_is_not_left_although_the_list_of_tags_still_has_it(
    account: Account,
) -> None:
    tags = {CLUSTER_TAG: CLUSTER}
    node, disk = instance(account, tags), volume(account, tags)
    assert len(remains(REGION, CLUSTER)) == 2
    account.ec2.terminate_instances(InstanceIds=[node])
    account.ec2.delete_volume(VolumeId=disk)
    still = {arn.rpartition("/")[2] for arn in listed_by_tag(account)}
    assert {node, disk} <= still
    assert remains(REGION, CLUSTER) == []


@pytest.mark.parametrize("key", TAGS)
def test_a_volume_with_any_tag_of_the_cluster_is_named(account: Account, key: str) -> None:
    left = volume(account, {key: CLUSTER})
    volume(account, {key: STACK})
    (line,) = remains(REGION, CLUSTER)
    assert f"volume/{left}; delete it: aws ec2 delete-volume --volume-id {left} " in line
    run(account, line)
    assert remains(REGION, CLUSTER) == []


def test_a_volume_of_a_controller_is_named(account: Account) -> None:
    """The EBS CSI driver names the cluster in the key of a tag."""
    volume(account, {f"kubernetes.io/cluster/{CLUSTER}": "owned"})
    volume(account, {"kubernetes.io/cluster/other": "owned"})
    (line,) = remains(REGION, CLUSTER)
    run(account, line)
    assert remains(REGION, CLUSTER) == []


def test_a_log_group_without_tags_is_named(account: Account) -> None:
    logs = account.client("logs")
    for name in (CLUSTER, f"{CLUSTER}-2", "other"):
        logs.create_log_group(logGroupName=f"/aws/eks/{name}/cluster")
    (line,) = remains(REGION, CLUSTER)
    assert "aws logs delete-log-group --log-group-name /aws/eks/team-a/cluster " in line
    run(account, line)
    assert remains(REGION, CLUSTER) == []
    for name in (f"{CLUSTER}-2", "other"):
        logs.delete_log_group(logGroupName=f"/aws/eks/{name}/cluster")


def test_a_network_interface_of_the_vpc_cni_is_named(account: Account) -> None:
    made = account.ec2.create_network_interface(
        SubnetId=PRIVATE_A,
        TagSpecifications=tagged("network-interface", {"cluster.k8s.amazonaws.com/name": CLUSTER}),
    )
    (line,) = remains(REGION, CLUSTER)
    assert made["NetworkInterface"]["NetworkInterfaceId"] in line
    run(account, line)
    assert remains(REGION, CLUSTER) == []


def test_roles_and_instance_profiles_of_the_cluster_are_named(account: Account) -> None:
    """They are global, and no list of tags of a region has them."""
    account.role(f"{CLUSTER}-node-role")
    account.role("other-node-role")
    profile, role = remains(REGION, CLUSTER)
    assert "InstanceProfile team-a-node-role" in profile
    assert "aws iam delete-role --role-name team-a-node-role" in role
    account.iam.remove_role_from_instance_profile(
        InstanceProfileName=f"{CLUSTER}-node-role", RoleName=f"{CLUSTER}-node-role"
    )
    run(account, profile)
    run(account, role)
    assert remains(REGION, CLUSTER) == []


def test_a_security_group_that_eks_made_is_named_once(account: Account) -> None:
    """By its name, and by its tag."""
    left = account.group(f"eks-cluster-sg-{CLUSTER}-1234")
    account.group("eks-cluster-sg-other-1234")
    (by_name,) = remains(REGION, CLUSTER)
    tags = [{"Key": "aws:eks:cluster-name", "Value": CLUSTER}]
    account.ec2.create_tags(Resources=[left], Tags=tags)
    assert remains(REGION, CLUSTER) == [by_name]
    assert f"aws ec2 delete-security-group --group-id {left} " in by_name
    run(account, by_name)
    assert remains(REGION, CLUSTER) == []


def test_a_log_group_is_named_once(account: Account) -> None:
    """By its name, by its tag, and by the state."""
    name = f"/aws/eks/{CLUSTER}/cluster"
    account.client("logs").create_log_group(logGroupName=name, tags={CLUSTER_TAG: CLUSTER})
    assert len(remains(REGION, CLUSTER)) == 1
    token = "aws:cloudwatch/logGroup:LogGroup"
    there = MadeObject(urn(token), name, {"name": name})
    (line,) = remains(REGION, CLUSTER, [there])
    run(account, line)
    assert remains(REGION, CLUSTER, [there]) == []


@pytest.mark.parametrize(
    "name", ["/aws/parallelcluster/team-a-2-202612010900", "/aws/eks/team-a-2/cluster"]
)
def test_log_groups_of_a_cluster_whose_name_begins_alike_are_not_named(
    account: Account, name: str
) -> None:
    account.client("logs").create_log_group(logGroupName=name)
    assert remains(REGION, CLUSTER) == []
    assert len(remains(REGION, f"{CLUSTER}-2")) == 1


@pytest.mark.parametrize(
    ("path", "tags"),
    [
        ("/", {CLUSTER_TAG: f"{CLUSTER}-2"}),
        ("/", {PARALLELCLUSTER_TAG: f"{CLUSTER}-2"}),
        (f"/parallelcluster/{CLUSTER}-2/", {}),
    ],
)
def test_roles_of_a_cluster_whose_name_begins_alike_are_not_named(
    account: Account, path: str, tags: dict[str, str]
) -> None:
    given = {
        "Path": path,
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    name = f"{CLUSTER}-2-node-role"
    account.iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}", **given)
    account.iam.create_instance_profile(InstanceProfileName=name, **given)
    assert remains(REGION, CLUSTER) == []
    assert len(remains(REGION, f"{CLUSTER}-2")) == 2


def test_a_cluster_is_named_once_with_all_that_is_in_it(account: Account) -> None:
    account.cluster(CLUSTER, tags={CLUSTER_TAG: CLUSTER})
    account.eks.create_addon(clusterName=CLUSTER, addonName="vpc-cni", tags={CLUSTER_TAG: CLUSTER})
    assert len(listed_by_tag(account)) == 2
    arn = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/{CLUSTER}"
    (line,) = [each for each in remains(REGION, CLUSTER) if ":eks:" in each]
    assert line == f"{arn}; delete it: aws eks delete-cluster --name {CLUSTER} --region {REGION}"


def test_a_job_definition_counts_until_it_is_deregistered(account: Account) -> None:
    """AWS keeps it for 180 days after that, and the list of tags has it."""
    made = account.client("batch").register_job_definition(
        jobDefinitionName="nccl",
        type="container",
        containerProperties={
            "image": "public.ecr.aws/docker/library/busybox:1",
            "resourceRequirements": [
                {"type": "VCPU", "value": "1"},
                {"type": "MEMORY", "value": "128"},
            ],
        },
        tags={CLUSTER_TAG: CLUSTER},
    )["jobDefinitionArn"]
    (line,) = remains(REGION, CLUSTER)
    run(account, line)
    assert listed_by_tag(account) == [made]
    assert remains(REGION, CLUSTER) == []


def test_everything_else_that_the_tags_name_counts_until_it_is_gone(account: Account) -> None:
    """Without a lookup of its own, an object would count as long as the list of tags has it."""
    tags = {CLUSTER_TAG: CLUSTER}
    ec2 = account.ec2
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16", TagSpecifications=tagged("vpc", tags))["Vpc"]
    subnet = ec2.create_subnet(
        VpcId=vpc["VpcId"], CidrBlock="10.9.0.0/24", TagSpecifications=tagged("subnet", tags)
    )
    table = ec2.create_route_table(
        VpcId=vpc["VpcId"], TagSpecifications=tagged("route-table", tags)
    )
    gateway = ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway", tags))
    ec2.create_placement_group(
        GroupName="near", Strategy="cluster", TagSpecifications=tagged("placement-group", tags)
    )
    address = ec2.allocate_address(Domain="vpc", TagSpecifications=tagged("elastic-ip", tags))
    lines = remains(REGION, CLUSTER)
    for identifier in (
        *(vpc["VpcId"], subnet["Subnet"]["SubnetId"], table["RouteTable"]["RouteTableId"]),
        *(gateway["InternetGateway"]["InternetGatewayId"], "near", address["AllocationId"]),
    ):
        (line,) = [each for each in lines if f"/{identifier};" in each]
        lines.remove(line)
    assert lines == []
    for line in sorted(remains(REGION, CLUSTER), key=lambda each: ":vpc/" in each):
        run(account, line)
    assert remains(REGION, CLUSTER) == []
    assert len(listed_by_tag(account)) >= 4


def test_a_launch_template_counts_until_it_is_gone(account: Account) -> None:
    """The list of tags still has it then, and EC2 has no filter for its id."""
    template = account.ec2.create_launch_template(
        LaunchTemplateName="dev-left",
        LaunchTemplateData={"InstanceType": "t3.large"},
        TagSpecifications=tagged("launch-template", {CLUSTER_TAG: CLUSTER}),
    )["LaunchTemplate"]["LaunchTemplateId"]
    (found,) = remains(REGION, CLUSTER)
    run(account, found)
    assert [arn for arn in listed_by_tag(account) if arn.endswith(template)]
    assert remains(REGION, CLUSTER) == []


class Asked:
    """An account that has nothing, and remembers the last question."""

    def all(self, service: str, operation: str, _key: str, **arguments: Any) -> list[Any]:
        self.question = service, operation, arguments
        return []

    def one(self, service: str, operation: str, _key: str, **arguments: Any) -> None:
        self.question = service, operation, arguments


@pytest.mark.parametrize("kind", KINDS)
def test_lookups_have_the_parameters_and_filters_that_the_api_has(kind: str) -> None:
    asked: Any = Asked()
    exists, _ = KINDS[kind]
    assert not exists(asked, "x")
    service, operation, arguments = asked.question
    model = botocore.session.get_session().get_service_model(service)
    name = next(each for each in model.operation_names if xform_name(each) == operation)
    members = model.operation_model(name).input_shape.members
    assert arguments.keys() <= members.keys()
    documented = (
        re.findall(r"<code>([a-z0-9-]+)", members["Filters"].documentation)
        if ("Filters" in arguments)
        else []
    )
    assert {each["Name"] for each in arguments.get("Filters", ())} <= {*documented}


def test_what_was_in_the_state_and_has_no_lookup_is_found_by_its_tags(account: Account) -> None:
    """Nothing looks a created reservation up, which costs as much as its nodes."""
    made = account.ec2.create_capacity_reservation(
        InstanceType="c5.large",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-west-2a",
        InstanceCount=1,
        TagSpecifications=tagged("capacity-reservation", {CLUSTER_TAG: CLUSTER}),
    )["CapacityReservation"]
    token = "aws:ec2/capacityReservation:CapacityReservation"
    known = MadeObject(
        urn(token), made["CapacityReservationId"], {}, made["CapacityReservationArn"]
    )
    (line,) = remains(REGION, CLUSTER, [known])
    assert made["CapacityReservationId"] in line
    run(account, line)
    assert remains(REGION, CLUSTER, [known]) == []


KEPT = (
    "/aws/lambda/pcluster-CleanupResources-0a1b2c3d",
    "/aws/lambda/pcluster-cfn-0a1b2c3d",
    f"/aws/parallelcluster/{CLUSTER}-202612010900",
)


@pytest.mark.parametrize(("policy", "left"), [("Retain", []), ("Delete", [KEPT[0], KEPT[2]])])
def test_log_groups_that_parallelcluster_keeps_are_not_left_behind(
    account: Account, policy: str, left: list[str]
) -> None:
    logs = account.client("logs")
    for name in KEPT:
        logs.create_log_group(logGroupName=name, tags={PARALLELCLUSTER_TAG: CLUSTER})
    logging = {"Logs": {"CloudWatch": {"Enabled": True, "DeletionPolicy": policy}}}
    properties = {"ClusterName": CLUSTER, "ClusterConfiguration": {"Monitoring": logging}}
    body = {"Resources": {"Cluster": {"Properties": properties}, "Other": {"Type": "T"}}}
    token = "aws:cloudformation/stack:Stack"
    inputs = {"name": "team-a-deployment", "templateBody": json.dumps(body)}
    lines = remains(REGION, CLUSTER, [MadeObject(urn(token), "arn:x", inputs)])
    assert [line.partition(";")[0].partition("log-group:")[2] for line in lines] == left


def test_the_tags_of_roles_and_scaling_groups_are_in_no_list(account: Account) -> None:
    tags = [{"Key": CLUSTER_TAG, "Value": CLUSTER}]
    account.iam.create_role(RoleName="tagged", AssumeRolePolicyDocument="{}", Tags=tags)
    account.iam.create_instance_profile(InstanceProfileName="tagged", Tags=tags)
    template = account.template("t", ImageId=STANDARD_IMAGE, InstanceType="c5.large")
    account.autoscaling_group("g", template, Tags=[{**tags[0], "PropagateAtLaunch": False}])
    assert listed_by_tag(account) == []


def test_what_was_in_the_state_is_looked_up_by_its_own_service(account: Account) -> None:
    """A role with any name, and an OIDC provider, which no tag and no name of the cluster finds."""
    account.role("custom")
    url = "https://oidc.example/id/1"
    provider = account.iam.create_open_id_connect_provider(Url=url, ThumbprintList=["a" * 40])
    arn = provider["OpenIDConnectProviderArn"]
    state = {
        "deployment": {
            "resources": [
                resource("aws:iam/role:Role", "custom", {"name": "custom"}),
                resource("aws:iam/role:Role", "gone", {"name": "gone"}),
                resource("aws:iam/openIdConnectProvider:OpenIdConnectProvider", arn, {"url": url}),
                resource("kubernetes:core/v1:ConfigMap", "kube-system/c", {}),
                resource("aws:ec2/getVpc:getVpc", "vpc", {}) | {"external": True},
                {"urn": urn("trainyard:eks:Cluster"), "custom": False},
            ]
        }
    }
    made = made_in(state)
    assert len(made) == 3
    assert remains(REGION, CLUSTER, made) == [
        f"aws:iam/openIdConnectProvider:OpenIdConnectProvider {arn}",
        "aws:iam/role:Role custom; delete it: aws iam delete-role --role-name custom",
    ]


def test_an_arn_of_the_state_is_decided_by_its_own_service_not_by_the_list_of_tags(
    account: Account,
) -> None:
    topic = account.client("sns").create_topic(
        Name="t", Tags=[{"Key": PARALLELCLUSTER_TAG, "Value": CLUSTER}]
    )["TopicArn"]
    assert [line.partition(";")[0] for line in remains(REGION, CLUSTER)] == [topic]
    token = "aws:sns/topic:Topic"
    there = MadeObject(urn(token), topic, {"name": "t"}, topic)
    assert remains(REGION, CLUSTER, [there]) == [f"{token} {topic}"]
    gone = MadeObject(urn(token), topic, {"name": "gone"}, topic)
    assert remains(REGION, CLUSTER, [gone]) == []


def test_what_the_state_had_is_not_judged_by_the_list_of_tags_either_if_it_has_no_arn(
    account: Account,
) -> None:
    """The provider returns none for NAT gateways, which EC2 lists for an hour, too."""
    gateway = account.ec2.create_nat_gateway(
        SubnetId=PRIVATE_A,
        ConnectivityType="private",
        TagSpecifications=tagged("natgateway", {CLUSTER_TAG: CLUSTER}),
    )["NatGateway"]["NatGatewayId"]
    account.ec2.delete_nat_gateway(NatGatewayId=gateway)
    assert any(arn.endswith(gateway) for arn in listed_by_tag(account))
    made = MadeObject(urn("aws:ec2/natGateway:NatGateway"), gateway, {})
    assert remains(REGION, CLUSTER, [made]) == []


def resource(token: str, identifier: str, inputs: dict[str, Any]) -> dict[str, Any]:
    made = {"urn": urn(token), "id": identifier, "inputs": inputs, "custom": True}
    return {**made, "outputs": {"arn": identifier}}


def urn(token: str) -> str:
    return f"urn:pulumi:{STACK}::trainyard::{token}::{token.rpartition(':')[2]}"
