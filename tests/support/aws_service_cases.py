"""The cases of `aws_cases` for networks, FSx, and what watches a stack."""

from __future__ import annotations

import json
from typing import Any

from tests.support.aws_cases import TAGS, Case
from tests.support.monitoring import WORKSPACE_ARN, WORKSPACE_ID
from tests.support.sandbox_aws import ODCR, PRIVATE_A, PRIVATE_B, VPC, Account

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
    return [
        *_of_vpc(ec2, vpc),
        *_of_routing(ec2, vpc, subnet),
        *_of_endpoints(subnet, vpc, account.group("endpoints", vpc)),
        *_of_logs(account, vpc),
    ]


def _of_vpc(ec2: Any, vpc: str) -> list[Case]:
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
    ]


def _of_routing(ec2: Any, vpc: str, subnet: str) -> list[Case]:
    addresses = [ec2.allocate_address(Domain="vpc")["AllocationId"] for _ in range(2)]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=addresses[0])["NatGateway"]
    tables = [ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]
    return [
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
    ]


def _of_endpoints(subnet: str, vpc: str, group: str) -> list[Case]:
    return [
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
    ]


def _of_logs(account: Account, vpc: str) -> list[Case]:
    account.client("logs").create_log_group(logGroupName="flow")
    owner = account.ec2.describe_vpcs()["Vpcs"][0]["OwnerId"]
    logs = f"arn:aws:logs:us-west-2:{owner}:log-group:flow"
    return [
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
    """Return a case for every type of FSx and S3; their prerequisites are in the account."""
    lustre, closed = account.lustre(), account.group("lustre")
    account.open_lustre(closed)
    account.client("s3").create_bucket(
        Bucket="held", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    return [*_of_lustre(lustre, closed), *_of_openzfs(closed), *_of_buckets("held")]


def _of_buckets(held: str) -> list[Case]:
    statement = {
        "Sid": "OnlyTls",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": f"arn:aws:s3:::{held}/*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    closed = dict.fromkeys(
        ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"),
        True,
    )
    encrypted = {
        "applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"},
        "bucketKeyEnabled": False,
    }
    elsewhere = {"bucket": "another"}
    return [
        Case(
            "aws:s3/bucket:Bucket",
            {"bucketPrefix": "scripts-", "forceDestroy": True, "tags": {"team": "a"}},
            {"tags": {"team": "b"}},
            {"bucketPrefix": "others-"},
        ),
        Case(
            "aws:s3/bucketObjectv2:BucketObjectv2",
            {"bucket": held, "key": "a.sh", "content": "true\n", "contentType": "text/plain"},
            None,
            {"key": "b.sh"},
        ),
        Case(
            "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
            {"bucket": held, "rule": {"objectOwnership": "BucketOwnerEnforced"}},
            {"rule": {"objectOwnership": "BucketOwnerPreferred"}},
            elsewhere,
        ),
        Case(
            "aws:s3/bucketPolicy:BucketPolicy",
            {
                "bucket": held,
                "policy": json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
            },
            None,
            elsewhere,
        ),
        Case(
            "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
            {"bucket": held, **closed},
            {"blockPublicAcls": False},
            elsewhere,
        ),
        Case(
            "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
            {"bucket": held, "rules": [encrypted]},
            None,
            elsewhere,
        ),
    ]


def _of_lustre(made: str, group: str) -> list[Case]:
    return [
        Case(
            "aws:fsx/lustreFileSystem:LustreFileSystem",
            {
                "subnetIds": PRIVATE_B,
                "securityGroupIds": [group],
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
            "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
            {
                "fileSystemId": made,
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


def _of_openzfs(group: str) -> list[Case]:
    return [
        Case(
            "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
            {
                "subnetIds": [PRIVATE_B],
                "securityGroupIds": [group],
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
    return [
        *_of_prometheus(account),
        *_of_cloudwatch(account, topic),
        *_of_events(account, topic),
        *_of_node_metrics(),
        *_of_topics(topic),
    ]


def _of_prometheus(account: Account) -> list[Case]:
    scraped = account.cluster(
        "scraped",
        resourcesVpcConfig={"subnetIds": [PRIVATE_A, PRIVATE_B], "endpointPrivateAccess": True},
    )
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
    ]


def _of_cloudwatch(account: Account, topic: str) -> list[Case]:
    account.client("logs").create_log_group(logGroupName=HOST_LOG)
    metric = {"namespace": "trainyard/c", "name": "GpuXidErrors", "value": "1"}
    return [
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
    ]


def _of_events(account: Account, topic: str) -> list[Case]:
    account.client("events").put_rule(Name="blocks", EventPattern=json.dumps(EVENTS))
    trust = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "scheduler.amazonaws.com"},
    }
    role = account.iam.create_role(
        RoleName="warnings",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )["Role"]["Arn"]
    return [
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
    ]


def _of_node_metrics() -> list[Case]:
    return [
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
    ]


def _of_topics(topic: str) -> list[Case]:
    policy = {"Version": "2012-10-17", "Statement": [{**PUBLISH, "Resource": topic}]}
    return [
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
