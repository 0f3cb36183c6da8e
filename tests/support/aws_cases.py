"""One case for each type of the AWS provider: a resource, a change of it, and its prerequisites."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from components.identity.addon_policies import inline_policies
from tests.support.monitoring import WORKSPACE_ARN, WORKSPACE_ID
from tests.support.sandbox_aws import (
    ACCOUNT,
    ODCR,
    PRIVATE_A,
    PRIVATE_B,
    STANDARD_IMAGE,
    VPC,
    Account,
)

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
    group = account.group()
    template = account.template("t", ImageId=STANDARD_IMAGE, InstanceType="c5.2xlarge")
    account.cluster("c")
    account.autoscaling_group("g", template, DesiredCapacity=0)
    closed = account.group("closed")
    made_template = {"id": template, "version": "1"}
    tags = {"tags": {"team": "a"}}
    of_another_group = {"securityGroupId": closed}
    rule = {"securityGroupId": group, "ipProtocol": "-1", "referencedSecurityGroupId": group}
    return [
        Case(
            "aws:ec2/securityGroup:SecurityGroup",
            {"vpcId": VPC, "description": "EFA"},
            tags,
            {"description": "other"},
        ),
        Case(
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            rule,
            {**tags, "referencedSecurityGroupId": closed},
            of_another_group,
            has_identity=True,
        ),
        Case(
            "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
            rule,
            {**tags, "referencedSecurityGroupId": closed},
            of_another_group,
            has_identity=True,
        ),
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
        Case(
            "aws:resourcegroups/group:Group",
            {"name": "reservations-new", "configurations": CONFIGURATIONS},
            tags,
            {"name": "other"},
        ),
        Case(
            "aws:resourcegroups/resource:Resource",
            {"groupArn": account.reservation_group(), "resourceArn": RESERVATION_ARN},
            None,
            {"resourceArn": RESERVATION_ARN + "x"},
        ),
        Case("aws:iam/instanceProfile:InstanceProfile", {"role": "node"}, tags, {"path": "/x/"}),
        Case(
            "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
            {
                "url": "https://oidc.example.com/id/1",
                "clientIdLists": ["sts.amazonaws.com"],
                "thumbprintLists": ["9e99a48a9960b14926bb7f3b02e22da2b0ab7280"],
            },
            tags,
            {"url": "https://oidc.example.com/id/2"},
        ),
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
                "accessConfig": {
                    "authenticationMode": "CONFIG_MAP",
                    "bootstrapClusterCreatorAdminPermissions": True,
                },
            },
            {
                "accessConfig": {
                    "authenticationMode": "API_AND_CONFIG_MAP",
                    "bootstrapClusterCreatorAdminPermissions": True,
                }
            },
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
                **tags,
                "configurationValues": '{"controller": {"replicaCount": 2}}',
                "podIdentityAssociations": [{"serviceAccount": "other", "roleArn": pods}],
            },
            {"addonName": "vpc-cni"},
        ),
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
            "aws:eks/accessEntry:AccessEntry",
            {"clusterName": "c", "principalArn": role, "type": "EC2_LINUX"},
            tags,
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
        Case(
            GROUP,
            {
                "minSize": 0,
                "desiredCapacity": 1,
                "maxSize": 2,
                "vpcZoneIdentifiers": [PRIVATE_B],
                "launchTemplate": made_template,
            },
            {"desiredCapacity": 2},
            {"name": "other"},
        ),
        Case(
            "aws:ec2/keyPair:KeyPair",
            {"publicKey": PUBLIC_KEY, "tags": {"team": "a"}},
            {"tags": {"team": "b"}},
            {"publicKey": PUBLIC_KEY + "x"},
        ),
        Case(
            "aws:ram/resourceShareAccepter:ResourceShareAccepter",
            {"shareArn": SHARE},
            None,
            {"shareArn": SHARE + "x"},
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
    tags = {"tags": {"team": "a"}}
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
    account.client("ecr").create_repository(repositoryName="made")
    order = [{"order": 1, "computeEnvironment": made["computeEnvironmentArn"]}]
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
            ENVIRONMENT,
            {
                "type": "MANAGED",
                "computeResources": computing,
                "updatePolicy": {"jobExecutionTimeoutMinutes": 60, "terminateJobsOnUpdate": False},
            },
            {**tags, "state": "DISABLED"},
            {"name": "other"},
            follows=frozenset({"computeResources"}),
        ),
        Case(
            QUEUE,
            {"priority": 1, "state": "ENABLED", "computeEnvironmentOrders": order},
            {**tags, "priority": 2},
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
            {**tags, "timeout": {"attemptDurationSeconds": 60}},
            {"name": "other"},
            follows=frozenset({"arn", "revision"}),
        ),
        Case(
            REPOSITORY,
            {
                "imageScanningConfiguration": {"scanOnPush": True},
                "imageTagMutability": "IMMUTABLE",
                "encryptionConfigurations": [{"encryptionType": "AES256"}],
            },
            {**tags, "imageTagMutability": "MUTABLE"},
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


TAGS = {"tags": {"team": "a"}}
NEW_VPC = "10.1.0.0/16"


def network_cases(account: Account) -> list[Case]:
    """Return a case for every type of a network; their prerequisites are in the account."""
    ec2 = account.ec2
    vpc = ec2.create_vpc(CidrBlock=NEW_VPC)["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24", AvailabilityZone="us-west-2a")[
        "Subnet"
    ]["SubnetId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    addresses = [ec2.allocate_address(Domain="vpc")["AllocationId"] for _ in range(2)]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=addresses[0])["NatGateway"]
    tables = [ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]
    group = account.group("endpoints", vpc)
    account.client("logs").create_log_group(logGroupName="flow")
    logs = f"arn:aws:logs:us-west-2:{ec2.describe_vpcs()['Vpcs'][0]['OwnerId']}:log-group:flow"
    return [
        Case(
            "aws:ec2/vpc:Vpc",
            {"cidrBlock": "10.2.0.0/16", "enableDnsHostnames": True},
            TAGS,
            {"cidrBlock": "10.3.0.0/16"},
        ),
        Case(
            "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation",
            {"vpcId": vpc, "cidrBlock": "10.9.0.0/16"},
            None,
            {"cidrBlock": "10.8.0.0/16"},
        ),
        Case(
            "aws:ec2/subnet:Subnet",
            {"vpcId": vpc, "cidrBlock": "10.1.1.0/24", "availabilityZoneId": "usw2-az1"},
            {"mapPublicIpOnLaunch": True},
            {"cidrBlock": "10.1.2.0/24"},
        ),
        Case(
            "aws:ec2/internetGateway:InternetGateway",
            {"vpcId": ec2.create_vpc(CidrBlock="10.4.0.0/16")["Vpc"]["VpcId"]},
            TAGS,
        ),
        Case("aws:ec2/eip:Eip", {"domain": "vpc"}, TAGS, {"domain": "standard"}),
        Case(
            "aws:ec2/natGateway:NatGateway",
            {"subnetId": subnet, "allocationId": addresses[1]},
            TAGS,
            {"subnetId": PRIVATE_A},
        ),
        Case("aws:ec2/routeTable:RouteTable", {"vpcId": vpc}, TAGS, {"vpcId": VPC}),
        Case(
            "aws:ec2/route:Route",
            {
                "routeTableId": tables[0],
                "destinationCidrBlock": "0.0.0.0/0",
                "natGatewayId": nat["NatGatewayId"],
            },
            None,
            {"routeTableId": tables[1]},
            imported_as="{routeTableId}_{destinationCidrBlock}",
        ),
        Case(
            "aws:ec2/routeTableAssociation:RouteTableAssociation",
            {"subnetId": subnet, "routeTableId": tables[0]},
            {"routeTableId": tables[1]},
            {"subnetId": PRIVATE_A},
            imported_as="{subnetId}/{routeTableId}",
        ),
        Case(
            "aws:ec2/vpcEndpoint:VpcEndpoint",
            {
                "vpcId": vpc,
                "serviceName": "com.amazonaws.us-west-2.ecr.dkr",
                "vpcEndpointType": "Interface",
                "subnetIds": [subnet],
                "securityGroupIds": [group],
                "privateDnsEnabled": True,
            },
            TAGS,
            {"serviceName": "com.amazonaws.us-west-2.sts"},
        ),
        Case(
            "aws:cloudwatch/logGroup:LogGroup",
            {"retentionInDays": 7},
            {"retentionInDays": 14},
            {"name": "other"},
        ),
        Case(
            "aws:ec2/flowLog:FlowLog",
            {"vpcId": vpc, "logDestination": logs, "iamRoleArn": account.role("flow")},
            TAGS,
            {"trafficType": "REJECT"},
        ),
    ]


def storage_cases(account: Account) -> list[Case]:
    """Return a case for every type of FSx; their prerequisites are in the account."""
    lustre, closed = account.lustre(), account.group("lustre")
    account.open_lustre(closed)
    return [
        Case(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            {
                "subnetIds": PRIVATE_B,
                "securityGroupIds": [closed],
                "storageCapacity": 2400,
                "deploymentType": "PERSISTENT_2",
                "perUnitStorageThroughput": 125,
                "metadataConfiguration": {"mode": "USER_PROVISIONED", "iops": 3000},
                "tags": {"team": "a"},
            },
            {"storageCapacity": 4800, "perUnitStorageThroughput": 250, "tags": {"team": "b"}},
            {"subnetIds": PRIVATE_A},
        ),
        Case(
            "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
            {
                "subnetIds": [PRIVATE_B],
                "securityGroupIds": [closed],
                "storageCapacity": 128,
                "deploymentType": "SINGLE_AZ_HA_2",
                "throughputCapacity": 160,
                "skipFinalBackup": True,
                "rootVolumeConfiguration": {
                    "dataCompressionType": "LZ4",
                    "nfsExports": {
                        "clientConfigurations": [{"clients": "*", "options": ["rw", "crossmnt"]}]
                    },
                },
                "tags": {"team": "a"},
            },
            {
                "storageCapacity": 256,
                "throughputCapacity": 320,
                "rootVolumeConfiguration": {
                    "dataCompressionType": "ZSTD",
                    "nfsExports": {
                        "clientConfigurations": [{"clients": "10.0.0.0/8", "options": ["ro"]}]
                    },
                    "readOnly": True,
                    "recordSizeKib": 1024,
                },
                "tags": {"team": "b"},
            },
            {"deploymentType": "SINGLE_AZ_2"},
        ),
        Case(
            "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
            {
                "fileSystemId": lustre,
                "fileSystemPath": "/data",
                "dataRepositoryPath": "s3://data/",
                "s3": {"autoImportPolicy": {"events": ["NEW"]}},
            },
            {
                "s3": {
                    "autoImportPolicy": {"events": ["NEW"]},
                    "autoExportPolicy": {"events": ["NEW", "CHANGED"]},
                },
                "tags": {"team": "b"},
            },
            {"fileSystemPath": "/other"},
        ),
    ]


EVENTS = {"source": ["aws.ec2"], "detail-type": [{"prefix": "Capacity Block"}]}
HOST_LOG = "/aws/containerinsights/c/host"
PUBLISH = {
    "Sid": "Events",
    "Effect": "Allow",
    "Principal": {"Service": "events.amazonaws.com"},
    "Action": "sns:Publish",
}


def monitoring_cases(account: Account) -> list[Case]:
    """Return the cases of collectors, dashboards, alarms, rules, topics, associations."""
    topic: str = account.client("sns").create_topic(Name="alarms")["TopicArn"]
    account.client("events").put_rule(Name="blocks", EventPattern=json.dumps(EVENTS))
    account.client("logs").create_log_group(logGroupName=HOST_LOG)
    policy = {"Version": "2012-10-17", "Statement": [{**PUBLISH, "Resource": topic}]}
    trust = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "scheduler.amazonaws.com"},
    }
    role = account.iam.create_role(
        RoleName="warnings",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    scraped = account.cluster(
        "scraped",
        resourcesVpcConfig={"subnetIds": [PRIVATE_A, PRIVATE_B], "endpointPrivateAccess": True},
    )
    metric = {"namespace": "trainyard/c", "name": "GpuXidErrors", "value": "1"}
    return [
        Case(
            "aws:amp/ruleGroupNamespace:RuleGroupNamespace",
            {"workspaceId": WORKSPACE_ID, "data": "groups: []\n", "tags": {"team": "a"}},
            {"data": "groups: [{name: c, rules: []}]\n"},
            {"name": "other"},
        ),
        Case(
            "aws:amp/scraper:Scraper",
            {
                "alias": "c-scraper",
                "destination": {"amp": {"workspaceArn": WORKSPACE_ARN}},
                "source": {
                    "eks": {
                        "clusterArn": scraped["arn"],
                        "securityGroupIds": [
                            scraped["resourcesVpcConfig"]["clusterSecurityGroupId"]
                        ],
                        "subnetIds": [PRIVATE_A, PRIVATE_B],
                    }
                },
                "scrapeConfiguration": "scrape_configs: []\n",
                "tags": {"team": "a"},
            },
            {"scrapeConfiguration": "global: {scrape_interval: 60s}\nscrape_configs: []\n"},
            {},
        ),
        Case(
            "aws:cloudwatch/metricAlarm:MetricAlarm",
            {
                "namespace": "AWS/EC2CapacityReservations",
                "metricName": "AvailableInstanceCount",
                "dimensions": {"CapacityReservationId": ODCR},
                "statistic": "Minimum",
                "comparisonOperator": "GreaterThanThreshold",
                "threshold": 0,
                "period": 300,
                "evaluationPeriods": 12,
                "treatMissingData": "notBreaching",
                "alarmActions": [topic],
                "tags": {"team": "a"},
            },
            {"threshold": 2},
            {"name": "other"},
        ),
        Case(
            "aws:cloudwatch/dashboard:Dashboard",
            {"dashboardName": "c", "dashboardBody": '{"widgets": []}'},
            {"dashboardBody": '{"start": "-PT3H", "widgets": []}'},
            {"dashboardName": "other"},
        ),
        Case(
            "aws:cloudwatch/eventRule:EventRule",
            {"eventPattern": json.dumps(EVENTS), "tags": {"team": "a"}},
            {"description": "blocks"},
            {"name": "other"},
        ),
        Case(
            "aws:cloudwatch/eventTarget:EventTarget",
            {"rule": "blocks", "targetId": "topic", "arn": topic},
            None,
            {"targetId": "other"},
            imported_as="{rule}/{targetId}",
        ),
        Case(
            "aws:cloudwatch/logMetricFilter:LogMetricFilter",
            {
                "name": "GpuXidErrors",
                "logGroupName": HOST_LOG,
                "pattern": '"NVRM: Xid"',
                "metricTransformation": metric,
            },
            {"pattern": '"Xid (PCI"'},
            {"name": "other"},
            follows=frozenset({"metricTransformation"}),
            imported_as="{logGroupName}:{name}",
        ),
        Case(
            "aws:scheduler/schedule:Schedule",
            {
                "scheduleExpression": "at(2026-12-07T12:00:00)",
                "scheduleExpressionTimezone": "UTC",
                "flexibleTimeWindow": {"mode": "OFF"},
                "target": {"arn": topic, "roleArn": role, "input": "ends"},
            },
            {"scheduleExpression": "at(2026-12-14T12:00:00)"},
            {"name": "other"},
        ),
        Case(
            "aws:ssm/association:Association",
            {
                "name": "AWS-RunShellScript",
                "associationName": "c-monitoring-gpu",
                "targets": [{"key": "tag:trainyard:node-metrics", "values": ["c/gpu"]}],
                "parameters": {"commands": "set -eu\ntrue\n"},
                "tags": {"team": "a"},
            },
            {"parameters": {"commands": "set -eu\nfalse\n"}},
            {},
        ),
        Case("aws:sns/topic:Topic", {"tags": {"team": "a"}}, {"displayName": "a"}, {"name": "b"}),
        Case(
            "aws:sns/topicPolicy:TopicPolicy",
            {"arn": topic, "policy": json.dumps(policy)},
            {"policy": json.dumps({**policy, "Id": "b"})},
        ),
        Case(
            "aws:sns/topicSubscription:TopicSubscription",
            {"topic": topic, "protocol": "email", "endpoint": "a@example.com"},
            None,
            {"endpoint": "b@example.com"},
        ),
    ]
