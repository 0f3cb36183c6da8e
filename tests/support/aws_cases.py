"""One case for each type of the AWS provider: a resource, a change of it, and its prerequisites."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.support.sandbox_aws import (
    ACCOUNT,
    ODCR,
    PRIVATE_A,
    PRIVATE_B,
    STANDARD_IMAGE,
    VPC,
    Account,
)
from trainyard.components.identity.addon_policies import inline_policies

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:autoscaling/group:Group"
TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Action": "sts:AssumeRole",
                "Principal": {"Service": "ec2.amazonaws.com"},
            }
        ],
    }
)
POLICY = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
INLINE = inline_policies(("fsx", "autoscaler"), partition="aws", cluster_name="c")
CONFIGURATIONS = [
    {"type": "AWS::EC2::CapacityReservationPool"},
    {
        "type": "AWS::ResourceGroups::Generic",
        "parameters": [
            {"name": "allowed-resource-types", "values": ["AWS::EC2::CapacityReservation"]}
        ],
    },
]
TAGS = {"tags": {"team": "a"}}
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFxtkBQK8pio3VACjCmOl68BcFHYzZ6Xk60QDD9HYPvn me"
SHARE = "arn:aws:ram:us-west-2:999988887777:resource-share/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f"
RESERVATION_ARN = f"arn:aws:ec2:us-west-2:{ACCOUNT}:capacity-reservation/{ODCR}"


@dataclass(frozen=True)
class Case:
    """A type, its inputs, and a change of them that AWS applies in place."""

    token: str
    inputs: dict[str, Any]
    change: dict[str, Any] | None = None
    replacing: dict[str, Any] = field(default_factory=dict[str, Any])
    follows: frozenset[str] = frozenset()
    """Outputs that change with it, according to the provider."""
    imported_as: str = "{id}"
    """Format of the id for `pulumi import`, from the resource's id and inputs."""
    has_identity: bool = False
    """Whether a refresh fails once the resource is gone: "Missing Resource Identity After Read".

    https://github.com/hashicorp/terraform-provider-aws/issues/45303
    """


def cases(account: Account) -> list[Case]:
    """Return a case for every type; their prerequisites are in the account."""
    role, pods = account.role("node"), account.pod_role("pods")
    template = account.template("t", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    account.cluster("c")
    account.autoscaling_group("g", template, DesiredCapacity=0)
    return [
        *_of_security_groups(account.group(), account.group("closed")),
        *_of_ec2(),
        *_of_iam(),
        *_of_reservations(account.reservation_group()),
        *_of_eks(role, pods),
        *_of_autoscaling(template),
    ]


def _of_security_groups(group: str, closed: str) -> list[Case]:
    of_another_group = {"securityGroupId": closed}
    rule = {"securityGroupId": group, "ipProtocol": "-1", "referencedSecurityGroupId": group}
    return [
        Case(
            "aws:ec2/securityGroup:SecurityGroup",
            {"vpcId": VPC, "description": "EFA"},
            TAGS,
            {"description": "other"},
        ),
        Case(
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            rule,
            {**TAGS, "referencedSecurityGroupId": closed},
            of_another_group,
            has_identity=True,
        ),
        Case(
            "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
            rule,
            {**TAGS, "referencedSecurityGroupId": closed},
            of_another_group,
            has_identity=True,
        ),
    ]


def _of_ec2() -> list[Case]:
    return [
        Case(
            "aws:ec2/placementGroup:PlacementGroup",
            {"strategy": "cluster"},
            None,
            {"strategy": "spread"},
        ),
        Case(
            TEMPLATE,
            {"instanceType": "c5.2xlarge", "imageId": STANDARD_IMAGE},
            {"instanceType": "c5.4xlarge"},
            {"name": "other"},
            follows=frozenset({"latestVersion"}),
        ),
        Case(
            "aws:ec2/keyPair:KeyPair",
            {"publicKey": PUBLIC_KEY, "tags": {"team": "a"}},
            {"tags": {"team": "b"}},
            {"publicKey": PUBLIC_KEY + "x"},
        ),
    ]


def _of_iam() -> list[Case]:
    return [
        Case(
            "aws:iam/role:Role", {"assumeRolePolicy": TRUST}, {"description": "x"}, {"path": "/x/"}
        ),
        Case(
            "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
            {"role": "node", "policyArn": POLICY},
            None,
            {"policyArn": POLICY + "x"},
        ),
        Case(
            "aws:iam/rolePolicy:RolePolicy",
            {"role": "node", "policy": json.dumps(INLINE["fsx"])},
            {"policy": json.dumps(INLINE["autoscaler"])},
            {"role": "other"},
        ),
        Case("aws:iam/instanceProfile:InstanceProfile", {"role": "node"}, TAGS, {"path": "/x/"}),
        Case(
            "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
            {
                "url": "https://oidc.example.com/id/1",
                "clientIdLists": ["sts.amazonaws.com"],
                "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
            },
            TAGS,
            {"url": "https://oidc.example.com/id/2"},
        ),
    ]


def _of_reservations(group_arn: str) -> list[Case]:
    return [
        Case(
            "aws:resourcegroups/group:Group",
            {"name": "reservations-new", "configurations": CONFIGURATIONS},
            TAGS,
            {"name": "other"},
        ),
        Case(
            "aws:resourcegroups/resource:Resource",
            {"groupArn": group_arn, "resourceArn": RESERVATION_ARN},
            None,
            {"resourceArn": RESERVATION_ARN + "x"},
        ),
        Case(
            "aws:ram/resourceShareAccepter:ResourceShareAccepter",
            {"shareArn": SHARE},
            None,
            {"shareArn": SHARE + "x"},
        ),
    ]


def _of_eks(role: str, pods: str) -> list[Case]:
    admin = {"bootstrapClusterCreatorAdminPermissions": True}
    return [
        Case(
            "aws:eks/cluster:Cluster",
            {
                "roleArn": role,
                "version": "1.35",
                "vpcConfig": {
                    "subnetIds": [PRIVATE_A, PRIVATE_B],
                    "endpointPublicAccess": True,
                    "endpointPrivateAccess": True,
                },
                "accessConfig": {"authenticationMode": "CONFIG_MAP", **admin},
            },
            {"accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP", **admin}},
            {"roleArn": role + "x"},
        ),
        Case(
            "aws:eks/addon:Addon",
            {
                "clusterName": "c",
                "addonName": "aws-ebs-csi-driver",
                "configurationValues": '{"controller": {"replicaCount": 1}}',
                "podIdentityAssociations": [{"serviceAccount": "ebs", "roleArn": pods}],
            },
            {
                **TAGS,
                "configurationValues": '{"controller": {"replicaCount": 2}}',
                "podIdentityAssociations": [{"serviceAccount": "other", "roleArn": pods}],
            },
            {"addonName": "vpc-cni"},
        ),
        Case(
            "aws:eks/accessEntry:AccessEntry",
            {"clusterName": "c", "principalArn": role, "type": "EC2_LINUX"},
            TAGS,
            {"type": "STANDARD"},
        ),
        Case(
            "aws:eks/nodeGroup:NodeGroup",
            {
                "clusterName": "c",
                "nodeRoleArn": role,
                "subnetIds": [PRIVATE_B],
                "scalingConfig": {"minSize": 0, "desiredSize": 1, "maxSize": 2},
                "amiType": "AL2023_x86_64_STANDARD",
            },
            {"scalingConfig": {"minSize": 0, "desiredSize": 2, "maxSize": 2}},
            {"subnetIds": [PRIVATE_A]},
        ),
    ]


def _of_autoscaling(template: str) -> list[Case]:
    return [
        Case(
            "aws:autoscaling/lifecycleHook:LifecycleHook",
            {
                "name": "drain",
                "autoscalingGroupName": "g",
                "lifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
                "defaultResult": "CONTINUE",
                "heartbeatTimeout": 300,
            },
            {"heartbeatTimeout": 600},
            {"name": "other"},
            imported_as="{autoscalingGroupName}/{name}",
        ),
        Case(
            GROUP,
            {
                "minSize": 0,
                "desiredCapacity": 1,
                "maxSize": 2,
                "vpcZoneIdentifiers": [PRIVATE_B],
                "launchTemplate": {"id": template, "version": "1"},
            },
            {"desiredCapacity": 2},
            {"name": "other"},
        ),
        Case(
            "aws:autoscaling/schedule:Schedule",
            {
                "autoscalingGroupName": "g",
                "scheduledActionName": "end",
                "startTime": "2099-01-01T00:00:00Z",
                "minSize": 0,
                "desiredCapacity": 0,
                "maxSize": 0,
            },
            {"maxSize": 1},
            {"scheduledActionName": "start"},
            imported_as="{autoscalingGroupName}/{scheduledActionName}",
        ),
    ]


ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
DEFINITION = "aws:batch/jobDefinition:JobDefinition"
REPOSITORY = "aws:ecr/repository:Repository"
LIFECYCLE = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
PROFILE = f"arn:aws:iam::{ACCOUNT}:instance-profile/batch"
CONTAINER: dict[str, Any] = {
    "image": "public.ecr.aws/hpc-cloud/nccl-tests:1",
    "command": ["true"],
    "resourceRequirements": [
        {"type": "VCPU", "value": "2"},
        {"type": "MEMORY", "value": "1024"},
    ],
    "environment": [],
}
NODES: dict[str, Any] = {
    "numNodes": 2,
    "mainNode": 0,
    "nodeRangeProperties": [{"targetNodes": "0:", "container": CONTAINER}],
}


def compute_resources(account: Account, **settings: Any) -> dict[str, Any]:
    """Return the compute resources of an environment; creates its role and its security group."""
    account.role("batch")
    return {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "minVcpus": 0,
        "maxVcpus": 16,
        "instanceTypes": ["c5.2xlarge"],
        "subnets": [PRIVATE_B],
        "securityGroupIds": [account.group("batch")],
        "instanceRole": PROFILE,
        **settings,
    }


def life_cycle_policy(days: int) -> str:
    """Return a life-cycle policy."""
    selection = {
        "tagStatus": "untagged",
        "countType": "sinceImagePushed",
        "countUnit": "days",
        "countNumber": days,
    }
    expire = {"rulePriority": 1, "selection": selection, "action": {"type": "expire"}}
    return json.dumps({"rules": [expire]})


def batch_cases(account: Account) -> list[Case]:
    """Return a case for every type; their prerequisites are in the account."""
    account.client("ecr").create_repository(repositoryName="made")
    return [*_of_batch(account), *_of_ecr()]


def _of_batch(account: Account) -> list[Case]:
    computing = compute_resources(account)
    made = account.client("batch").create_compute_environment(
        computeEnvironmentName="made",
        type="MANAGED",
        computeResources={
            "type": "EC2",
            "maxvCpus": 8,
            "instanceTypes": ["c5.2xlarge"],
            "subnets": computing["subnets"],
            "securityGroupIds": computing["securityGroupIds"],
            "instanceRole": PROFILE,
        },
    )
    order = [{"order": 1, "computeEnvironment": made["computeEnvironmentArn"]}]
    return [
        Case(
            ENVIRONMENT,
            {
                "type": "MANAGED",
                "computeResources": computing,
                "updatePolicy": {"jobExecutionTimeoutMinutes": 60, "terminateJobsOnUpdate": False},
            },
            {**TAGS, "state": "DISABLED"},
            {"name": "other"},
            follows=frozenset({"computeResources"}),
        ),
        Case(
            QUEUE,
            {"priority": 1, "state": "ENABLED", "computeEnvironmentOrders": order},
            {**TAGS, "priority": 2},
            {"name": "other"},
            has_identity=True,
        ),
        Case(
            DEFINITION,
            {
                "type": "multinode",
                "nodeProperties": json.dumps(NODES),
                "retryStrategy": {"attempts": 2},
                "timeout": {"attemptDurationSeconds": 3600},
            },
            {**TAGS, "timeout": {"attemptDurationSeconds": 60}},
            {"name": "other"},
            follows=frozenset({"arn", "revision"}),
        ),
    ]


def _of_ecr() -> list[Case]:
    reading = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "read",
                "Effect": "Allow",
                "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                "Action": ["ecr:BatchGetImage"],
            }
        ],
    }
    writing = json.loads(json.dumps(reading).replace("BatchGetImage", "PutImage"))
    return [
        Case(
            REPOSITORY,
            {
                "imageScanningConfiguration": {"scanOnPush": True},
                "imageTagMutability": "IMMUTABLE",
                "encryptionConfigurations": [{"encryptionType": "AES256"}],
            },
            {**TAGS, "imageTagMutability": "MUTABLE"},
            {"encryptionConfigurations": [{"encryptionType": "KMS"}]},
        ),
        Case(
            LIFECYCLE,
            {"repository": "made", "policy": life_cycle_policy(14)},
            None,
            {"policy": life_cycle_policy(7)},
        ),
        Case(
            "aws:ecr/repositoryPolicy:RepositoryPolicy",
            {"repository": "made", "policy": json.dumps(reading)},
            {"policy": json.dumps(writing)},
            {"repository": "other"},
        ),
    ]
