"""The sandbox's AWS endpoint for tests: clients, and common prerequisites of tests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from trainyard.components.catalog.versions import DEFAULT_KUBERNETES_VERSION
from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.aws.server import AwsServer  # before boto3 makes a client: it prepares moto

ACCOUNT = "123456789012"
VPC = "vpc-0123456789abcdef0"
PRIVATE_A, PRIVATE_B = "subnet-0a000000000000002", "subnet-0b000000000000002"
PRIVATE_D = "subnet-0d000000000000002"
TINY_B = "subnet-0b000000000000282"
BLOCK = "cr-0123456789abcdef0"
ODCR_IN_GROUP, ODCR = "cr-00d00000000000001", "cr-00d00000000000002"
AWS_ASSISTED = "cr-0a550000000000001"
SCHEDULED, ENDING, EXPIRED = (f"cr-0cb0000000000000{number}" for number in (1, 2, 3))
SMALL, OTHER_ZONE, OTHER_TYPE = (f"cr-0cb0000000000000{number}" for number in (4, 5, 6))
STANDARD_IMAGE, NVIDIA_IMAGE = (
    f"ami-0e50000000000{DEFAULT_KUBERNETES_VERSION.replace('.', '')}{kind}" for kind in (1, 2)
)

OF_OTHERS = (
    "autoscaling:DescribeAutoScalingInstances",
    "autoscaling:SetDesiredCapacity",
    "batch:CancelJob",
    "cloudwatch:PutMetricData",
    "cloudwatch:SetAlarmState",
    "ec2:CreateKeyPair",
    "ec2:CreateManagedPrefixList",
    "ec2:CreateNetworkInterface",
    "ecr:PutImage",
    "kms:DisableKey",
    "kms:EnableKey",
    "lambda:ListFunctions",
    "logs:CreateLogStream",
    "logs:DescribeLogStreams",
    "ram:CreateResourceShare",
)
"""Calls of others who use the account, whom tests play; neither stacks nor commands make them."""
_TRUST = json.dumps({"Version": "2012-10-17", "Statement": []})


class Account:
    """The account behind a server, as a client sees it."""

    def __init__(self, server: AwsServer) -> None:
        self.server = server
        self.client = cache(self._client)

    def _client(self, service: str, region: str = "us-west-2") -> Any:
        return boto3.client(
            service,
            endpoint_url=self.server.endpoint,
            region_name=region,
            **self.server.access.credentials,
            config=Config(retries={"total_max_attempts": 1}),
        )

    @property
    def ec2(self) -> Any:
        return self.client("ec2")

    @property
    def eks(self) -> Any:
        return self.client("eks")

    @property
    def autoscaling(self) -> Any:
        return self.client("autoscaling")

    @property
    def iam(self) -> Any:
        return self.client("iam")

    def role(self, name: str) -> str:
        """Create a role with an instance profile of the same name; return the role's ARN."""
        arn = self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=_TRUST)["Role"]["Arn"]
        self.iam.create_instance_profile(InstanceProfileName=name)
        self.iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
        return arn

    def person_role(self, name: str) -> str:
        """Create a role that the users and roles of the account may assume; return its ARN."""
        statement = {
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
            "Action": "sts:AssumeRole",
        }
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        return self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]

    def pod_role(self, name: str) -> str:
        """Create a role that EKS Pod Identity may assume; return its ARN."""
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        }
        trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        return self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]

    def reservation_group(self, *reservation_ids: str, name: str = "pool") -> str:
        """Create a resource group of reservations of this account; return its ARN."""
        groups = self.client("resource-groups")
        made = groups.create_group(
            Name=name,
            Configuration=[
                {"Type": "AWS::EC2::CapacityReservationPool"},
                {
                    "Type": "AWS::ResourceGroups::Generic",
                    "Parameters": [
                        {
                            "Name": "allowed-resource-types",
                            "Values": ["AWS::EC2::CapacityReservation"],
                        }
                    ],
                },
            ],
        )
        prefix = f"arn:aws:ec2:us-west-2:{ACCOUNT}:capacity-reservation/"
        if reservation_ids:
            groups.group_resources(
                Group=name, ResourceArns=[prefix + each for each in reservation_ids]
            )
        return made["Group"]["GroupArn"]

    def group(self, name: str = "efa", vpc_id: str = VPC) -> str:
        """Create a security group; return its id."""
        made = self.ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc_id)
        return made["GroupId"]

    def open_lustre(self, group_id: str) -> None:
        """Allow members of a security group to reach one another on the port of Lustre."""
        permission = {
            "IpProtocol": "tcp",
            "FromPort": 988,
            "ToPort": 988,
            "UserIdGroupPairs": [{"GroupId": group_id}],
        }
        self.ec2.authorize_security_group_ingress(GroupId=group_id, IpPermissions=[permission])

    def lustre(self) -> str:
        """Create a Lustre file system; return its id."""
        group_id = self.group("servers")
        self.open_lustre(group_id)
        made = self.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=1200,
            SubnetIds=[PRIVATE_B],
            SecurityGroupIds=[group_id],
            LustreConfiguration={"DeploymentType": "SCRATCH_2"},
        )
        return made["FileSystem"]["FileSystemId"]

    def template(self, name: str, **data: Any) -> str:
        """Create a launch template; return its id."""
        made = self.ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
        return made["LaunchTemplate"]["LaunchTemplateId"]

    def autoscaling_group(self, name: str, template_id: str, **settings: Any) -> dict[str, Any]:
        """Create an Auto Scaling group in private-b; return its description."""
        self.autoscaling.create_auto_scaling_group(
            AutoScalingGroupName=name,
            LaunchTemplate={"LaunchTemplateId": template_id, "Version": "$Latest"},
            **{"MinSize": 0, "MaxSize": 4, "VPCZoneIdentifier": PRIVATE_B, **settings},
        )
        return self.described_group(name)

    def described_group(self, name: str) -> dict[str, Any]:
        """Return the description of an Auto Scaling group."""
        answer = self.autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        return answer["AutoScalingGroups"][0]

    def instances(self, *states: str) -> list[dict[str, Any]]:
        """Return the instances in some states, by default the running ones."""
        names = list(states or ("running",))
        filters = [{"Name": "instance-state-name", "Values": names}]
        reservations = self.ec2.describe_instances(Filters=filters)["Reservations"]
        return [instance for each in reservations for instance in each["Instances"]]

    def reservation(self, reservation_id: str) -> dict[str, Any]:
        """Return the description of a capacity reservation."""
        answer = self.ec2.describe_capacity_reservations(CapacityReservationIds=[reservation_id])
        return answer["CapacityReservations"][0]

    def cluster(self, name: str = "c", **settings: Any) -> dict[str, Any]:
        """Create a cluster in private-a and private-b with its role; return its description."""
        self.role(f"{name}-cluster")
        self.eks.create_cluster(
            name=name,
            **{
                "roleArn": f"arn:aws:iam::{ACCOUNT}:role/{name}-cluster",
                "resourcesVpcConfig": {"subnetIds": [PRIVATE_A, PRIVATE_B]},
                "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
                **settings,
            },
        )
        return self.eks.describe_cluster(name=name)["cluster"]


def use_account(patch: pytest.MonkeyPatch, access: Endpoint) -> None:
    """Let AWS clients and lookups of images use an account."""
    for name, value in access.environment.items():
        patch.setenv(name, value)
    boto3.DEFAULT_SESSION = None  # the one of an earlier test keeps its credentials


@contextmanager
def default_account() -> Iterator[Account]:
    """Yield the account of a new server, as the default one of AWS clients."""
    with (
        AwsServer(region="us-west-2", of_others=OF_OTHERS) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        use_account(patch, server.access)
        yield Account(server)


def p5_interfaces(group_id: str) -> list[dict[str, Any]]:
    """Return the 33 interfaces of a p5.48xlarge in the efa-only layout."""
    first = {"NetworkCardIndex": 0, "Groups": [group_id]}
    return [
        {**first, "DeviceIndex": 0, "InterfaceType": "interface"},
        {**first, "DeviceIndex": 1, "InterfaceType": "efa-only"},
        *(
            {
                "NetworkCardIndex": card,
                "DeviceIndex": 0,
                "InterfaceType": "efa-only",
                "Groups": [group_id],
            }
            for card in range(1, 32)
        ),
    ]


def p5_block(group_id: str, reservation_id: str = BLOCK) -> dict[str, Any]:
    """Return the data of a launch template for a p5.48xlarge in a Capacity Block."""
    return {
        "ImageId": NVIDIA_IMAGE,
        "InstanceType": "p5.48xlarge",
        "InstanceMarketOptions": {"MarketType": "capacity-block"},
        "CapacityReservationSpecification": target(reservation_id),
        "NetworkInterfaces": p5_interfaces(group_id),
    }


def target(reservation_id: str) -> dict[str, Any]:
    """Return the specification that targets one reservation."""
    return {"CapacityReservationTarget": {"CapacityReservationId": reservation_id}}


@contextmanager
def refused(code: str, *words: str) -> Iterator[None]:
    """Expect an AWS error with a code and with words in its message."""
    with pytest.raises(ClientError) as caught:
        yield
    error = caught.value.response["Error"]
    assert error["Code"] == code, error
    for word in words:
        assert word in error["Message"], error


def without(mapping: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a mapping without some keys."""
    return {key: value for key, value in mapping.items() if key not in keys}
