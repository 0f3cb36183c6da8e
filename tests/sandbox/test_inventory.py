"""The inventory shows every object that users create, and no longer once it is deleted."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.batch_account import Batch
from tests.support.sandbox_aws import (
    OF_OTHERS,
    PRIVATE_A,
    PRIVATE_B,
    STANDARD_IMAGE,
    VPC,
    Account,
    p5_block,
)
from trainyard.sandbox.aws.environment import ACCOUNT_ID
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.inventory import Item, items, lines
from trainyard.sandbox.process_identity import own_identity
from trainyard.sandbox.state import SandboxDirectory, SandboxError, SandboxStatus


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with AwsServer(keep_time=False, of_others=OF_OTHERS) as server:
        yield Account(server)


@pytest.fixture
def directory(account: Account, tmp_path: Path) -> SandboxDirectory:
    """A directory whose daemon is this process."""
    account.server.reset()
    identity = own_identity()
    made = SandboxDirectory(tmp_path)
    made.write_status(
        SandboxStatus(
            pid=identity.pid,
            process_start_time=identity.start_time,
            aws_endpoint=account.server.endpoint,
            access_key=account.server.access.access_key,
            account_id=ACCOUNT_ID,
            region="us-west-2",
        )
    )
    return made


def test_the_inventory_of_a_new_sandbox_is_the_fixture(directory: SandboxDirectory) -> None:
    found = {item.identifier: item for item in items(directory)}
    assert found[VPC].line == f"ec2:vpc {VPC} cidr=10.0.0.0/16 tags=Name:training"
    assert found["cr-0123456789abcdef0"].details["kind"] == "capacity-block"
    assert "pg-0123456789abcdef0" in found
    assert "nat-0123456789abcdef0" in found
    assert lines(directory) == sorted(lines(directory))


def network(account: Account) -> Callable[[], None]:
    ec2 = account.ec2
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/20", AvailabilityZone="us-west-2a")[
        "Subnet"
    ]["SubnetId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    group = account.group("efa", vpc)
    interface = ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]

    def undo() -> None:
        ec2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
        ec2.delete_security_group(GroupId=group)
        ec2.delete_route_table(RouteTableId=table)
        ec2.delete_internet_gateway(InternetGatewayId=gateway)
        ec2.delete_subnet(SubnetId=subnet)
        ec2.delete_vpc(VpcId=vpc)

    return undo


def security_group_rule(account: Account) -> Callable[[], None]:
    ec2, group = account.ec2, account.group()
    permission = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[permission])
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[permission])

    def undo() -> None:
        ec2.revoke_security_group_egress(GroupId=group, IpPermissions=[permission])
        ec2.revoke_security_group_ingress(GroupId=group, IpPermissions=[permission])
        ec2.delete_security_group(GroupId=group)

    return undo


def autoscaling(account: Account) -> Callable[[], None]:
    ec2, group = account.ec2, account.group()
    template = account.template("p5", **p5_block(group), UserData=base64.b64encode(b"x").decode())
    account.autoscaling_group("p5", template, DesiredCapacity=2)
    account.autoscaling.put_scheduled_update_group_action(
        AutoScalingGroupName="p5",
        ScheduledActionName="down",
        StartTime="2099-01-01T00:00:00Z",
        DesiredCapacity=0,
    )

    def undo() -> None:
        account.autoscaling.delete_auto_scaling_group(AutoScalingGroupName="p5", ForceDelete=True)
        ec2.delete_launch_template(LaunchTemplateId=template)
        ec2.delete_security_group(GroupId=group)

    return undo


def instance(account: Account) -> Callable[[], None]:
    (made,) = account.ec2.run_instances(
        MinCount=1,
        MaxCount=1,
        ImageId=STANDARD_IMAGE,
        InstanceType="c5.2xlarge",
        SubnetId=PRIVATE_B,
    )["Instances"]
    return lambda: account.ec2.terminate_instances(InstanceIds=[made["InstanceId"]])


def placement_group(account: Account) -> Callable[[], None]:
    account.ec2.create_placement_group(GroupName="mine", Strategy="cluster")
    return lambda: account.ec2.delete_placement_group(GroupName="mine")


def reservation(account: Account) -> Callable[[], None]:
    made = account.ec2.create_capacity_reservation(
        InstanceType="c5.2xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-west-2b",
        InstanceCount=1,
    )["CapacityReservation"]["CapacityReservationId"]
    groups = account.client("resource-groups")
    groups.create_group(Name="pool", Configuration=[{"Type": "AWS::EC2::CapacityReservationPool"}])
    arn = account.reservation(made)["CapacityReservationArn"]
    groups.group_resources(Group="pool", ResourceArns=[arn])

    def undo() -> None:
        groups.delete_group(Group="pool")
        account.ec2.cancel_capacity_reservation(CapacityReservationId=made)

    return undo


def permissions(account: Account) -> Callable[[], None]:
    iam = account.iam
    account.role("node")
    policy = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    iam.attach_role_policy(RoleName="node", PolicyArn=policy)
    statement = {"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(RoleName="node", PolicyName="inline", PolicyDocument=document)
    provider = iam.create_open_id_connect_provider(
        Url="https://oidc.eks.us-west-2.amazonaws.com/id/A", ThumbprintList=["a" * 40]
    )["OpenIDConnectProviderArn"]

    def undo() -> None:
        iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=provider)
        iam.delete_role_policy(RoleName="node", PolicyName="inline")
        iam.detach_role_policy(RoleName="node", PolicyArn=policy)
        remove_role(account, "node")

    return undo


def cluster(account: Account) -> Callable[[], None]:
    eks = account.eks
    account.cluster()
    node = account.role("node")
    eks.create_addon(clusterName="c", addonName="vpc-cni")
    eks.create_access_entry(clusterName="c", principalArn=account.role("own"), type="EC2_LINUX")
    eks.create_nodegroup(
        clusterName="c",
        nodegroupName="n",
        nodeRole=node,
        subnets=[PRIVATE_A],
        instanceTypes=["c5.2xlarge"],
    )

    def undo() -> None:
        eks.delete_nodegroup(clusterName="c", nodegroupName="n")
        eks.delete_addon(clusterName="c", addonName="vpc-cni")
        eks.delete_cluster(name="c")
        for name in ("node", "own", "c-cluster"):
            remove_role(account, name)

    return undo


def batch(account: Account) -> Callable[[], None]:
    made, ecr = Batch(account), account.client("ecr")
    made.queue(made.environment())
    made.single()
    ecr.create_repository(repositoryName="images")

    def undo() -> None:
        ecr.delete_repository(repositoryName="images")
        made.client.deregister_job_definition(jobDefinition="one:1")
        made.client.update_job_queue(jobQueue="queue", state="DISABLED")
        made.client.delete_job_queue(jobQueue="queue")
        made.client.update_compute_environment(computeEnvironment="env", state="DISABLED")
        made.client.delete_compute_environment(computeEnvironment="env")
        account.ec2.delete_security_group(GroupId=made.group)
        names = {"InstanceProfileName": "node", "RoleName": "node"}
        account.iam.remove_role_from_instance_profile(**names)
        account.iam.delete_instance_profile(InstanceProfileName="node")
        account.iam.delete_role(RoleName="node")

    return undo


def log_group(account: Account) -> Callable[[], None]:
    logs = account.client("logs")
    logs.create_log_group(logGroupName="/aws/eks/c/cluster")
    return lambda: logs.delete_log_group(logGroupName="/aws/eks/c/cluster")


def monitoring(account: Account) -> Callable[[], None]:
    clients = {name: account.client(name) for name in ("cloudwatch", "events", "logs", "sns")}
    topic = clients["sns"].create_topic(Name="alarms")["TopicArn"]
    clients["cloudwatch"].put_metric_alarm(
        AlarmName="a",
        Namespace="AWS/FSx",
        MetricName="DataReadBytes",
        Period=60,
        ComparisonOperator="GreaterThanThreshold",
        Threshold=1,
        EvaluationPeriods=1,
    )
    clients["events"].put_rule(Name="r", EventPattern='{"source": ["aws.ec2"]}')

    def undo() -> None:
        clients["cloudwatch"].delete_alarms(AlarmNames=["a"])
        clients["events"].delete_rule(Name="r")
        clients["sns"].delete_topic(TopicArn=topic)

    return undo


def remove_role(account: Account, name: str) -> None:
    account.iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName=name)
    account.iam.delete_instance_profile(InstanceProfileName=name)
    account.iam.delete_role(RoleName=name)


MADE = [
    (network, {"ec2:vpc", "ec2:subnet", "ec2:internet-gateway", "ec2:route-table",
               "ec2:security-group", "ec2:network-interface"}),
    (security_group_rule, {"ec2:security-group", "ec2:security-group-rule"}),
    (autoscaling, {"autoscaling:group", "autoscaling:scheduled-action", "ec2:launch-template",
                   "ec2:instance", "ec2:volume", "ec2:network-interface",
                   "ec2:capacity-reservation"}),
    (instance, {"ec2:instance", "ec2:volume", "ec2:network-interface"}),
    (placement_group, {"ec2:placement-group"}),
    (reservation, {"ec2:capacity-reservation", "resource-groups:group"}),
    (permissions, {"iam:role", "iam:instance-profile", "iam:oidc-provider"}),
    (cluster, {"eks:cluster", "eks:node-group", "eks:addon", "eks:access-entry",
               "ec2:security-group", "ec2:launch-template", "autoscaling:group"}),
    (batch, {"batch:compute-environment", "batch:job-queue", "batch:job-definition",
             "ecr:repository"}),
    (log_group, {"logs:log-group"}),
    (monitoring, {"cloudwatch:alarm", "events:rule", "sns:topic"}),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kinds"), MADE, ids=[make.__name__ for make, _ in MADE])
def test_what_is_made_shows_and_what_is_removed_leaves_no_trace(
    account: Account,
    directory: SandboxDirectory,
    make: Callable[[Account], Callable[[], None]],
    kinds: set[str],
) -> None:
    before = lines(directory)
    undo = make(account)
    new = set(lines(directory)) - set(before)
    assert kinds <= {line.partition(" ")[0] for line in new}
    undo()
    assert lines(directory) == before


def test_a_line_holds_what_was_given_and_nothing_empty() -> None:
    item = Item("ec2:subnet", "subnet-1", {"zone": "us-west-2a", "tags": [], "free": 0, "no": None})
    assert item.line == "ec2:subnet subnet-1 zone=us-west-2a free=0"


def test_without_a_sandbox_there_is_nothing_to_list(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no sandbox runs"):
        lines(SandboxDirectory(tmp_path))
