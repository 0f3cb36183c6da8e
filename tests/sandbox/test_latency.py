"""Latencies of AWS, and their emulation in the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from tests.support.sandbox_aws import ACCOUNT, PRIVATE_B, STANDARD_IMAGE, Account, refused
from trainyard.sandbox.access import NO_ACCOUNT
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.cloudformation.forwarding import Forwarder
from trainyard.sandbox.aws.transitions import TRANSITIONS, Transitions
from trainyard.sandbox.aws.unimplemented import Call
from trainyard.sandbox.latency import pace
from trainyard.sandbox.latency.model import WITH_STATUS, latency_model
from trainyard.sandbox.latency.pace import VARIABLE, as_long_as_aws

ENDPOINT, GROUP = "aws:ec2/vpcEndpoint:VpcEndpoint", "aws:autoscaling/group:Group"


@pytest.fixture
def slept(monkeypatch):
    """Return the seconds of sleep, by a clock that only sleep advances."""
    seconds = []
    monkeypatch.setattr(pace.time, "sleep", seconds.append)
    monkeypatch.setattr(pace.time, "monotonic", lambda: 100.0)
    return seconds


@pytest.mark.parametrize(
    ("type_", "inputs", "seconds"),
    [
        ("aws:eks/cluster:Cluster", {}, 540),
        (ENDPOINT, {"vpcEndpointType": "Interface"}, 60),
        (ENDPOINT, {"vpcEndpointType": "Gateway"}, 8),
        (GROUP, {"waitForCapacityTimeout": "0"}, 15),
        (GROUP, {"waitForCapacityTimeout": "20m"}, 45),
        ("aws:iam/rolePolicy:RolePolicy", {}, 1),
        ("trainyard:network:Vpc", {}, 0),
        ("pulumi:providers:kubernetes", {}, 0),
    ],
)
def test_a_resource_takes_what_its_type_and_inputs_say(type_, inputs, seconds):
    assert latency_model().seconds(type_, inputs) == seconds


def test_every_number_has_its_source():
    for entries in latency_model().types.values():
        for entry in entries:
            assert entry.seconds["create"] > 0
            assert len(entry.source) > 10
        # A pattern that always matches is last: later ones would never apply.
        assert [bool(entry.when) for entry in entries] == [True] * (len(entries) - 1) + [False]


def test_every_type_with_a_status_has_a_number():
    assert latency_model().types.keys() >= WITH_STATUS


@pytest.fixture
def slow(account: Account) -> Iterator[Account]:
    """The account, with a tenth of AWS's latencies."""
    assert account.server.access.ask("POST", "latency?scale=0.1") == {"scale": 0.1}
    yield account
    TRANSITIONS.reset()


def pass_(seconds: float) -> None:
    CLOCK.advance(timedelta(seconds=seconds))


def cluster(account: Account) -> Callable[[], Any]:
    account.cluster("slow")
    return lambda: account.eks.describe_cluster(name="slow")["cluster"]["status"]


def nat_gateway(account: Account) -> Callable[[], Any]:
    ec2 = account.ec2
    vpc = ec2.create_vpc(CidrBlock="10.50.0.0/16")["Vpc"]["VpcId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.50.0.0/24")["Subnet"]["SubnetId"]
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)
    ids = [nat["NatGateway"]["NatGatewayId"]]
    return lambda: ec2.describe_nat_gateways(NatGatewayIds=ids)["NatGateways"][0]["State"]


def endpoint(account: Account) -> Callable[[], Any]:
    ec2 = account.ec2
    vpc = ec2.create_vpc(CidrBlock="10.51.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_vpc_endpoint(
        VpcId=vpc, ServiceName="com.amazonaws.us-west-2.s3", VpcEndpointType="Gateway"
    )
    ids = [made["VpcEndpoint"]["VpcEndpointId"]]
    return lambda: ec2.describe_vpc_endpoints(VpcEndpointIds=ids)["VpcEndpoints"][0]["State"]


def instance_in_group(account: Account) -> Callable[[], Any]:
    template = account.template("slow", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    account.autoscaling_group("slow", template, DesiredCapacity=1)
    return lambda: account.described_group("slow")["Instances"][0]["LifecycleState"]


def file_system(account: Account) -> Callable[[], Any]:
    fsx, ids = account.client("fsx"), [account.lustre()]
    return lambda: fsx.describe_file_systems(FileSystemIds=ids)["FileSystems"][0]["Lifecycle"]


def environment(account: Account) -> Callable[[], Any]:
    account.role("slow")
    batch = account.client("batch")
    batch.create_compute_environment(
        computeEnvironmentName="slow",
        type="MANAGED",
        computeResources={
            "type": "EC2",
            "maxvCpus": 8,
            "instanceTypes": ["c5.2xlarge"],
            "subnets": [PRIVATE_B],
            "securityGroupIds": [account.group("slow")],
            "instanceRole": f"arn:aws:iam::{ACCOUNT}:instance-profile/slow",
        },
    )
    return lambda: batch.describe_compute_environments()["computeEnvironments"][0]["status"]


@pytest.mark.parametrize(
    ("make", "seconds", "at_first", "then"),
    [
        (cluster, 540, "CREATING", "ACTIVE"),
        (nat_gateway, 105, "pending", "available"),
        (endpoint, 8, "pending", "available"),
        (instance_in_group, 45, "Pending", "InService"),
        (file_system, 480, "CREATING", "AVAILABLE"),
        (environment, 12, "CREATING", "VALID"),
    ],
)
def test_an_object_is_being_made_for_its_share_of_awss_time(
    slow: Account, make: Callable[[Account], Callable[[], Any]], seconds: int, at_first, then
) -> None:
    status = make(slow)
    pass_(seconds * 0.1 - 0.7)
    assert status() == at_first
    pass_(0.7)
    assert status() == then


def test_parts_of_a_cluster_take_their_time_to_come_change_and_go(slow: Account) -> None:
    eks = slow.eks
    cluster(slow)
    pass_(54)
    addon = {"clusterName": "slow", "addonName": "kube-proxy"}
    eks.create_addon(**addon)
    eks.create_nodegroup(
        clusterName="slow",
        nodegroupName="n",
        nodeRole=slow.role("nodes"),
        subnets=[PRIVATE_B],
        scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 1},
    )

    def statuses() -> tuple[str, str]:
        group = eks.describe_nodegroup(clusterName="slow", nodegroupName="n")["nodegroup"]
        return eks.describe_addon(**addon)["addon"]["status"], group["status"]

    assert statuses() == ("CREATING", "CREATING")
    pass_(2.4)
    assert statuses() == ("ACTIVE", "CREATING")
    pass_(10.6)
    assert statuses() == ("ACTIVE", "ACTIVE")

    update = eks.update_nodegroup_config(clusterName="slow", nodegroupName="n", labels={})["update"]
    assert update["status"] == "InProgress"
    pass_(60)
    about = {"name": "slow", "nodegroupName": "n", "updateId": update["id"]}
    assert eks.describe_update(**about)["update"]["status"] == "Successful"

    eks.delete_addon(**addon)
    eks.delete_nodegroup(clusterName="slow", nodegroupName="n")
    assert statuses() == ("DELETING", "DELETING")
    with refused("ResourceInUseException", "nodegroups attached"):
        eks.delete_cluster(name="slow")
    pass_(18)
    assert not eks.list_addons(clusterName="slow")["addons"]
    assert not eks.list_nodegroups(clusterName="slow")["nodegroups"]
    eks.delete_cluster(name="slow")
    assert eks.list_clusters()["clusters"] == ["slow"]
    pass_(12)
    assert not eks.list_clusters()["clusters"]


def test_what_goes_is_shown_until_it_is_gone(slow: Account) -> None:
    systems, groups = file_system(slow), instance_in_group(slow)
    pass_(48)
    assert (systems(), groups()) == ("AVAILABLE", "InService")
    fsx = slow.client("fsx")
    (found,) = [s for s in fsx.describe_file_systems()["FileSystems"] if s["StorageCapacity"]][-1:]
    fsx.delete_file_system(FileSystemId=found["FileSystemId"])
    slow.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="slow", ForceDelete=True)
    assert systems() == "DELETING"
    assert slow.described_group("slow")["Status"] == "Delete in progress"
    pass_(12)
    with refused("FileSystemNotFound"):
        systems()
    assert not slow.autoscaling.describe_auto_scaling_groups()["AutoScalingGroups"]


def test_the_scale_of_a_running_account_counts_for_what_begins_from_then_on(slow: Account) -> None:
    status = cluster(slow)
    TRANSITIONS.scale = 0.0
    assert status() == "CREATING"
    pass_(54)
    assert status() == "ACTIVE"
    slow.cluster("quick")
    assert slow.eks.describe_cluster(name="quick")["cluster"]["status"] == "ACTIVE"


def test_what_was_waited_for_already_counts() -> None:
    """A control plane that takes 20 s to start is ACTIVE 34 s later at a tenth."""
    transitions, ended = Transitions(), mock.Mock()
    transitions.scale = 0.1
    began = CLOCK.now() - timedelta(seconds=20)
    transitions.begin("aws:eks/cluster:Cluster", "create", ended, since=began)
    due = transitions.due("aws:eks/cluster:Cluster", "create", since=began)
    assert not ended.called
    assert due - began == timedelta(seconds=54)
    transitions.begin("aws:eks/cluster:Cluster", "create", ended, since=began - timedelta(hours=1))
    assert ended.called


def test_only_what_aws_shows_a_status_of_can_be_under_way() -> None:
    with pytest.raises(ValueError, match="WITH_STATUS"):
        Transitions().due("aws:iam/role:Role", "create")


def test_a_stack_of_cloudformation_is_in_progress_until_aws_would_be_done(
    slow: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = b"<StackStatus>CREATE_COMPLETE</StackStatus>"
    forwarder = Forwarder()
    forwarder.access = NO_ACCOUNT
    forwarder.cloudformation = mock.Mock()
    monkeypatch.setattr(forwarder, "_forward", lambda *_: ("200 OK", [], said))

    def call(operation: str) -> bytes:
        body = f"Action={operation}&StackName=slow".encode()
        return forwarder.answer(Call("cloudformation", operation, "query"), {}, body)[2]

    call("CreateStack")
    assert call("DescribeStacks") == said.replace(b"COMPLETE", b"IN_PROGRESS")
    pass_(48)
    assert call("DescribeStacks") == said


# In the stand-in for the Kubernetes provider


def test_the_stand_in_takes_its_share_of_the_time(slept, monkeypatch):
    monkeypatch.setenv(VARIABLE, "0.1")
    with as_long_as_aws("kubernetes:apps/v1:Deployment", {}, "create"):
        pass
    assert slept == [1.0]


@pytest.mark.parametrize("scale", [None, "", "0"])
def test_without_a_scale_nothing_is_waited_for(slept, monkeypatch, scale):
    monkeypatch.delenv(VARIABLE, raising=False)
    if scale is not None:
        monkeypatch.setenv(VARIABLE, scale)
    with as_long_as_aws("kubernetes:apps/v1:Deployment", {}, "create"):
        pass
    assert slept == []


def test_what_is_refused_is_refused_at_once(slept, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    with pytest.raises(RuntimeError), as_long_as_aws("kubernetes:apps/v1:Deployment", {}, "create"):
        raise RuntimeError("refused")
    assert slept == []


def test_a_kubernetes_object_is_gone_when_its_pods_would_be(slept, monkeypatch):
    """Like a Deployment of the model; types without an entry take a second."""
    monkeypatch.setenv(VARIABLE, "1")
    for type_ in ("kubernetes:apps/v1:Deployment", "kubernetes:core/v1:ServiceAccount"):
        with as_long_as_aws(type_, {}, "delete"):
            pass
    assert slept == [5.0, 1.0]
