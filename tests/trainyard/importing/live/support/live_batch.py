"""An account that answers calls by their names, and records them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from botocore import xform_name

from trainyard.components.network.facts import DefaultRoute

VPC = "vpc-0123456789abcdef0"


class LiveAccount:
    """Stands for `AccountReader`.

    Args:
        answers: Answer by call; a function gets the arguments. Other calls find nothing.
        routes: Default route by subnet.
    """

    region = "us-west-2"

    def __init__(
        self, answers: Mapping[str, Any], routes: Mapping[str, DefaultRoute] | None = None
    ) -> None:
        self.answers, self.routes = {**answers}, routes or {}
        self.calls: list[str] = []
        self.left_out: dict[str, str] = {}

    def client(self, service: str) -> Any:
        """Return a client whose methods are their own names."""
        del service
        return _Methods()

    @property
    def eks(self) -> Any:
        """As `client`."""
        return _Methods()

    @property
    def fsx(self) -> Any:
        """As `client`."""
        return _Methods()

    def account_id(self) -> str:
        """As `AccountReader.account_id`."""
        return "123456789012"

    @property
    def ec2(self) -> Any:
        """As `client`."""
        return _Methods()

    def ask(self, call: str, do: Any, *, if_denied: Any = None, **arguments: Any) -> Any:
        """As `AccountReader.ask`; no call is denied."""
        del if_denied
        if isinstance(do, str):  # otherwise it is wrapped
            assert xform_name(call.partition(":")[2]) == do
        self.calls.append(call)
        if call == "ec2:DescribeSubnets":
            return self._subnets(arguments["Filters"][0]["Values"])
        if call == "ec2:DescribeRouteTables":
            return {"RouteTables": [_route_table(*each) for each in self.routes.items()]}
        answer = self.answers.get(call)
        return answer(**arguments) if callable(answer) else answer

    def _subnets(self, subnet_ids: Iterable[str]) -> dict[str, Any]:
        """Return the subnets with a route."""
        subnet = {
            "VpcId": VPC,
            "AvailabilityZone": "us-west-2a",
            "AvailabilityZoneId": "usw2-az2",
            "CidrBlock": "10.0.0.0/24",
            "AvailableIpAddressCount": 200,
        }
        known = [each for each in subnet_ids if each in self.routes]
        return {"Subnets": [{**subnet, "SubnetId": each} for each in known]}

    def pages(
        self, call: str, do: Any, *, next_key: str = "nextToken", **given: Any
    ) -> Iterator[Any]:
        """As `AccountReader.pages`: one page."""
        del next_key
        answer = self.ask(call, do, **given)
        if answer is not None:
            yield answer

    def not_read(self) -> tuple[str, ...]:
        """As `AccountReader.not_read`."""
        return ()

    def leave_out(self, what: str, why: str) -> None:
        """As `AccountReader.leave_out`."""
        self.left_out[what] = why


_TARGETS = {"internet-gateway": {"GatewayId": "igw-0a1b2c3d"}, "nat": {"NatGatewayId": "nat-0a1b"}}


def _route_table(subnet_id: str, route: str) -> dict[str, Any]:
    """Return the route table of a subnet with a default route."""
    routes = [{"DestinationCidrBlock": "0.0.0.0/0", **_TARGETS[route]}]
    return {"VpcId": VPC, "Routes": routes, "Associations": [{"SubnetId": subnet_id}]}


class _Methods:
    def __getattr__(self, name: str) -> str:
        return name


PRIVATE, PUBLIC = "subnet-0123456789abcde01", "subnet-0123456789abcde02"
BLOCK = "cr-0123456789abcdef0"
ENVIRONMENT, QUEUE, DEFINITION = (
    f"arn:aws:batch:us-west-2:123456789012:{kind}"
    for kind in ("compute-environment/", "job-queue/", "job-definition/")
)
ROUTES: Mapping[str, DefaultRoute] = {PRIVATE: "nat", PUBLIC: "internet-gateway"}


def environment(name: str = "gpu", *, tags: Mapping[str, str] | None = None, **resources: Any):
    """Return a compute environment of p5 nodes, with the fields that Batch answers."""
    return {
        "computeEnvironmentName": name,
        "computeEnvironmentArn": f"{ENVIRONMENT}{name}",
        "ecsClusterArn": f"arn:aws:ecs:us-west-2:123456789012:cluster/{name}_Batch_1",
        "tags": dict(tags or {}),
        "type": "MANAGED",
        "state": "ENABLED",
        "status": "VALID",
        "statusReason": "ComputeEnvironment Healthy",
        "computeResources": {
            "type": "EC2",
            "allocationStrategy": "BEST_FIT_PROGRESSIVE",
            "minvCpus": 0,
            "maxvCpus": 768,
            "desiredvCpus": 0,
            "instanceTypes": ["p5.48xlarge"],
            "subnets": [PRIVATE],
            "securityGroupIds": ["sg-0123456789abcdef0"],
            "instanceRole": "arn:aws:iam::123456789012:instance-profile/nodes",
            "tags": {},
            "launchTemplate": {"launchTemplateId": "lt-0123456789abcdef0", "version": "2"},
            "ec2Configuration": [{"imageType": "ECS_AL2023_NVIDIA"}],
            **resources,
        },
        "serviceRole": "arn:aws:iam::123456789012:role/aws-service-role/batch.amazonaws.com/"
        "AWSServiceRoleForBatch",
        "updatePolicy": {"terminateJobsOnUpdate": False, "jobExecutionTimeoutMinutes": 30},
        "containerOrchestrationType": "ECS",
        "uuid": "0a1b2c3d-0000-0000-0000-000000000000",
    }


def queue(name: str = "train", *environments: str, **changed: Any) -> dict[str, Any]:
    """Return a job queue of compute environments; by default of `gpu`."""
    return {
        "jobQueueName": name,
        "jobQueueArn": f"{QUEUE}{name}",
        "state": "ENABLED",
        "status": "VALID",
        "statusReason": "JobQueue Healthy",
        "priority": 7,
        "computeEnvironmentOrder": [
            {"order": order, "computeEnvironment": f"{ENVIRONMENT}{each}"}
            for order, each in enumerate(environments or ("gpu",), 1)
        ],
        "tags": {},
        **changed,
    }


def definition(name: str = "pretrain", revision: int = 1, **changed: Any) -> dict[str, Any]:
    """Return a job definition of two nodes with EFA."""
    container = {
        "image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/train:1",
        "command": ["torchrun", "train.py"],
        "jobRoleArn": "arn:aws:iam::123456789012:role/jobs",
        "environment": [{"name": "NCCL_DEBUG", "value": "INFO"}],
        "resourceRequirements": [
            {"type": "VCPU", "value": "96"},
            {"type": "MEMORY", "value": "1000000"},
            {"type": "GPU", "value": "8"},
        ],
    }
    return {
        "jobDefinitionName": name,
        "jobDefinitionArn": f"{DEFINITION}{name}:{revision}",
        "revision": revision,
        "status": "ACTIVE",
        "type": "multinode",
        "nodeProperties": {
            "numNodes": 2,
            "mainNode": 0,
            "nodeRangeProperties": [{"targetNodes": "0:", "container": container}],
        },
        "tags": {},
        "platformCapabilities": ["EC2"],
        "containerOrchestrationType": "ECS",
        **changed,
    }


def template(**data: Any) -> dict[str, Any]:
    """Return the version of the launch template of a Capacity Block."""
    return {
        "LaunchTemplateId": "lt-0123456789abcdef0",
        "LaunchTemplateName": "gpu-nodes",
        "VersionNumber": 2,
        "DefaultVersion": False,
        "LaunchTemplateData": {
            "NetworkInterfaces": [
                {"DeviceIndex": 0, "NetworkCardIndex": 0, "InterfaceType": "interface"},
                *({"DeviceIndex": 1, "NetworkCardIndex": card, "InterfaceType": "efa-only"}
                  for card in range(32)),
            ],
            "InstanceMarketOptions": {"MarketType": "capacity-block"},
            "CapacityReservationSpecification": {
                "CapacityReservationTarget": {"CapacityReservationId": BLOCK}
            },
            "UserData": base64.b64encode(b"#!/bin/bash\nexport TOKEN=secret\n").decode(),
            **data,
        },
    }  # fmt: skip


def batch_account(**answers: Any) -> LiveAccount:
    """Return an account with one queue and one environment, with other answers by call."""
    policies = {
        "nodes": ["arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role"],
        "jobs": ["arn:aws:iam::123456789012:policy/checkpoints"],
    }

    def attached(**asked: Any) -> dict[str, Any]:
        listed = policies[asked["RoleName"]]
        return {
            "AttachedPolicies": [
                {"PolicyArn": arn, "PolicyName": arn.rpartition("/")[2]} for arn in listed
            ]
        }

    found = {
        "DescribeComputeEnvironments": {"computeEnvironments": [environment()]},
        "DescribeJobQueues": {"jobQueues": [queue()]},
        "ListJobs": {
            "jobSummaryList": [{"jobId": "1", "jobDefinition": f"{DEFINITION}pretrain:1"}]
        },
        "DescribeJobDefinitions": {"jobDefinitions": [definition()]},
        "DescribeLaunchTemplateVersions": {"LaunchTemplateVersions": [template()]},
        "GetInstanceProfile": {"InstanceProfile": {"Roles": [{"RoleName": "nodes"}]}},
        "ListAttachedRolePolicies": attached,
        "ListRolePolicies": {"PolicyNames": []},
        **answers,
    }
    services = {
        "DescribeLaunchTemplateVersions": "ec2",
        **dict.fromkeys(("DescribeRepositories", "ListTagsForResource"), "ecr"),
        **dict.fromkeys(
            ("GetInstanceProfile", "ListAttachedRolePolicies", "ListRolePolicies", "GetRolePolicy"),
            "iam",
        ),
    }
    return LiveAccount(
        {f"{services.get(call, 'batch')}:{call}": answer for call, answer in found.items()}, ROUTES
    )
