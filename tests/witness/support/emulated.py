"""Answers of the emulated account, with an object of each kind, to the calls of the program."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.support.sandbox_aws import (  # before boto3 makes a client
    ACCOUNT,
    ODCR,
    OF_OTHERS,
    PRIVATE_A,
    PRIVATE_B,
    STANDARD_IMAGE,
    VPC,
    Account,
)

import pytest  # isort: skip
from botocore.client import BaseClient  # isort: skip

from trainyard.sandbox.aws.server import AwsServer  # isort: skip
from trainyard.sandbox.inventory import account_items  # isort: skip
from trainyard.sandbox.inventory import clients_of  # isort: skip
from tests.support.batch_account import Batch  # isort: skip

Answers = dict[str, list[Any]]
"""Answers by operation, `eks.DescribeCluster`."""
ALLOWED = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
CLUSTER, NODES, TOPIC = "c", "nodes", "alerts"
QUOTA = {"ServiceCode": "ec2", "QuotaCode": "L-417A185B"}


def emulated_answers() -> Answers:
    """Return the answers of a new account, whose clock does not move."""
    with AwsServer(keep_time=False, of_others=OF_OTHERS) as server, recorded() as answers:
        account = Account(server)
        _make(account)
        list(account_items(clients_of(server.access, "us-west-2")))
        _ask(account)
    return answers


@contextmanager
def recorded() -> Iterator[Answers]:
    """Record the answers to all calls of boto3."""
    answers: Answers = defaultdict(list)
    call: Callable[..., Any] = BaseClient._make_api_call  # type: ignore[attr-defined]

    def recording(client: Any, operation: str, arguments: Any) -> Any:
        answer = call(client, operation, arguments)
        service = client.meta.service_model.service_name
        answers[f"{service}.{operation}"].append(copy.deepcopy(answer))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", recording)
        yield answers


def _make(account: Account) -> None:
    """Create what the program makes and reads."""
    _cluster(account)
    _jobs(account)
    account.lustre()
    account.client("fsx").create_file_system(
        FileSystemType="OPENZFS",
        StorageCapacity=64,
        SubnetIds=[PRIVATE_B],
        OpenZFSConfiguration={"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160},
        Tags=[{"Key": "team", "Value": "a"}],
    )
    group = account.group("addresses")
    account.ec2.create_volume(AvailabilityZone="us-west-2a", Size=8, VolumeType="gp3")
    account.ec2.create_vpc_endpoint(
        VpcId=VPC,
        ServiceName="com.amazonaws.us-west-2.ec2",
        VpcEndpointType="Interface",
        SubnetIds=[PRIVATE_A],
        SecurityGroupIds=[group],
    )
    _watched(account)


def _cluster(account: Account) -> None:
    account.cluster(CLUSTER, logging={"clusterLogging": [{"types": ["api"], "enabled": True}]})
    account.eks.create_nodegroup(
        clusterName=CLUSTER,
        nodegroupName=NODES,
        nodeRole=account.role(NODES),
        subnets=[PRIVATE_A, PRIVATE_B],
        scalingConfig={"minSize": 1, "maxSize": 2, "desiredSize": 1},
        instanceTypes=["c5.2xlarge"],
        labels={"team": "a"},
        tags={"team": "a"},
    )
    account.eks.create_addon(clusterName=CLUSTER, addonName="vpc-cni", tags={"team": "a"})
    account.eks.create_pod_identity_association(
        clusterName=CLUSTER,
        namespace="kube-system",
        serviceAccount="s",
        roleArn=account.pod_role("pods"),
    )
    template = account.template("bare", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    account.autoscaling_group("bare", template, MinSize=1, DesiredCapacity=1)
    account.reservation_group(ODCR)


def _jobs(account: Account) -> None:
    batch = Batch(account)
    batch.queue(batch.environment())
    batch.single()
    batch.submit("one")
    account.client("ecr").create_repository(repositoryName="made")


def _watched(account: Account) -> None:
    topic = account.client("sns").create_topic(Name=TOPIC)["TopicArn"]
    account.client("logs").create_log_group(logGroupName="/trainyard/c", tags={"team": "a"})
    account.client("cloudwatch").put_metric_alarm(
        AlarmName="idle",
        Namespace="AWS/EC2CapacityReservations",
        MetricName="AvailableInstanceCount",
        Dimensions=[{"Name": "CapacityReservationId", "Value": ODCR}],
        Statistic="Minimum",
        ComparisonOperator="GreaterThanThreshold",
        Threshold=0,
        Period=300,
        EvaluationPeriods=12,
        AlarmActions=[topic],
    )
    pattern = json.dumps({"source": ["aws.ec2"]})
    account.client("events").put_rule(Name="warnings", EventPattern=pattern)
    account.client("ssm").put_parameter(Name="/team/a", Value="b", Type="String")
    policy = json.dumps({"Version": "2012-10-17", "Statement": [ALLOWED]})
    account.iam.put_role_policy(RoleName=NODES, PolicyName="inline", PolicyDocument=policy)


def _ask(account: Account) -> None:
    """Make the calls of the program that the list of all objects does not need."""
    named = {"clusterName": CLUSTER}
    role = f"arn:aws:iam::{ACCOUNT}:role/{NODES}"
    group = account.eks.describe_nodegroup(**named, nodegroupName=NODES)["nodegroup"]
    questions: Mapping[str, list[tuple[str, dict[str, Any]]]] = {
        "eks": [
            ("describe_cluster", {"name": CLUSTER}),
            ("describe_addon", {**named, "addonName": "vpc-cni"}),
            ("describe_access_entry", {**named, "principalArn": role}),
            ("describe_cluster_versions", {}),
            ("list_fargate_profiles", named),
            ("list_identity_provider_configs", named),
            ("list_tags_for_resource", {"resourceArn": group["nodegroupArn"]}),
        ],
        "ec2": [
            ("describe_availability_zones", {}),
            ("describe_images", {"Owners": ["self", "amazon"]}),
            ("describe_launch_template_versions", {"Versions": ["$Latest"]}),
            ("describe_regions", {}),
            ("describe_instance_types", {"InstanceTypes": ["p5.48xlarge", "c5.2xlarge"]}),
            ("describe_vpc_attribute", {"VpcId": VPC, "Attribute": "enableDnsSupport"}),
            ("describe_vpc_attribute", {"VpcId": VPC, "Attribute": "enableDnsHostnames"}),
        ],
        "autoscaling": [
            ("describe_scaling_activities", {"AutoScalingGroupName": "bare"}),
            ("describe_auto_scaling_instances", {}),
            ("describe_tags", {}),
        ],
        "iam": [
            ("get_account_summary", {}),
            ("get_role", {"RoleName": NODES}),
            ("get_instance_profile", {"InstanceProfileName": NODES}),
            ("get_policy", {"PolicyArn": f"arn:aws:iam::{ACCOUNT}:policy/team/ReadData"}),
            ("list_role_policies", {"RoleName": NODES}),
        ],
        "sts": [("get_caller_identity", {})],
        "ssm": [("get_parameter", {"Name": "/team/a"})],
        "sns": [("get_topic_attributes", {"TopicArn": f"arn:aws:sns:us-west-2:{ACCOUNT}:{TOPIC}"})],
        "batch": [("list_jobs", {"jobQueue": "queue", "jobStatus": "RUNNABLE"})],
        "fsx": [("describe_volumes", {})],
        "service-quotas": [
            ("list_service_quotas", {"ServiceCode": "ec2"}),
            ("get_service_quota", QUOTA),
            ("get_aws_default_service_quota", QUOTA),
        ],
        "ram": [("get_resource_share_invitations", {})],
        "resource-groups": [("list_group_resources", {"Group": "pool"})],
        "s3": [("list_buckets", {})],
        "resourcegroupstaggingapi": [("get_resources", {})],
    }
    for service, asked in questions.items():
        for method, arguments in asked:
            getattr(account.client(service), method)(**arguments)
    efs = account.client("efs")
    for system in efs.describe_file_systems()["FileSystems"]:
        targets = efs.describe_mount_targets(FileSystemId=system["FileSystemId"])
        for target in targets["MountTargets"]:
            efs.describe_mount_target_security_groups(MountTargetId=target["MountTargetId"])
