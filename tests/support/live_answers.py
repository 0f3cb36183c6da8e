"""Answers of AWS about clusters, as `import --live` reads them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from trainyard.importing.formats import EKS_ANSWERS
from trainyard.importing.imported import Imported, imported_as
from trainyard.importing.live.answers import document_of
from trainyard.importing.user_data import summary

PUBLIC, PRIVATE, OTHER = (f"subnet-0123456789abcde{number:02}" for number in range(3))
FILE_SYSTEM = "fs-0123456789abcdef0"
BLOCK = "cr-0123456789abcdef0"
ROLE = "training-nodes"
NODE_CONFIG = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster: {name: train, certificateAuthority: c2VjcmV0}
  kubelet:
    flags:
      - --node-labels=team=vision,pool=gpu
      - --register-with-taints=nvidia.com/gpu=:NoSchedule,spare:NoExecute
--//
Content-Type: text/x-shellscript

#!/bin/bash
export TOKEN=secret
--//--
"""


def cluster(**changed: Any) -> dict[str, Any]:
    """Return `DescribeCluster` of a cluster with a public and two private subnets."""
    return {
        "name": "train",
        "arn": "arn:aws:eks:us-west-2:123456789012:cluster/train",
        "version": "1.36",
        "status": "ACTIVE",
        "resourcesVpcConfig": {
            "vpcId": "vpc-0123456789abcdef0",
            "subnetIds": [PUBLIC, PRIVATE, OTHER],
            "endpointPublicAccess": True,
            "endpointPrivateAccess": True,
            "publicAccessCidrs": ["52.1.0.0/16"],
        },
        "logging": {
            "clusterLogging": [
                {"types": ["api", "audit"], "enabled": True},
                {"types": ["scheduler"], "enabled": False},
            ]
        },
        "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
        "tags": {"team": "vision", "aws:cloudformation:stack-name": "eksctl-train"},
        **changed,
    }


def managed(name: str = "services", **changed: Any) -> dict[str, Any]:
    """Return `DescribeNodegroup` of a group with one node in every private subnet."""
    return {
        "nodegroupName": name,
        "clusterName": "train",
        "scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 2},
        "instanceTypes": ["c5.2xlarge"],
        "subnets": [PRIVATE, OTHER],
        "amiType": "AL2023_x86_64_STANDARD",
        "capacityType": "ON_DEMAND",
        "nodeRole": f"arn:aws:iam::123456789012:role/{ROLE}",
        "diskSize": 80,
        **changed,
    }


def template(identity: str = "lt-1", **data: Any) -> dict[str, Any]:
    """Return a version of a launch template."""
    return {"LaunchTemplateId": identity, "VersionNumber": 3, "LaunchTemplateData": data}


def efa_interfaces(count: int, kind: str = "efa-only") -> list[dict[str, Any]]:
    """Return a primary interface and others that carry EFA."""
    primary = {"DeviceIndex": 0, "NetworkCardIndex": 0, "InterfaceType": "interface"}
    return [primary, *({"DeviceIndex": 1, "InterfaceType": kind} for _ in range(count))]


def scaling_group(name: str = "training-1a2b", **changed: Any) -> dict[str, Any]:
    """Return an Auto Scaling group whose nodes join the cluster."""
    return {
        "AutoScalingGroupName": name,
        "MinSize": 0,
        "DesiredCapacity": 2,
        "MaxSize": 2,
        "VPCZoneIdentifier": PRIVATE,
        "LaunchTemplate": {"LaunchTemplateId": "lt-1", "Version": "3"},
        "Tags": [{"Key": "kubernetes.io/cluster/train", "Value": "owned"}],
        **changed,
    }


def file_system(*, lustre: dict[str, Any] | None = None, **changed: Any) -> dict[str, Any]:
    """Return a Lustre file system in a private subnet of the cluster."""
    return {
        "FileSystemId": FILE_SYSTEM,
        "FileSystemType": "LUSTRE",
        "Lifecycle": "AVAILABLE",
        "StorageCapacity": 4800,
        "StorageType": "SSD",
        "VpcId": "vpc-0123456789abcdef0",
        "SubnetIds": [PRIVATE],
        "NetworkInterfaceIds": ["eni-1"],
        "KmsKeyId": "arn:aws:kms:us-west-2:123456789012:key/1",
        "Tags": [{"Key": "Name", "Value": "Data sets"}],
        "LustreConfiguration": {
            "DeploymentType": "PERSISTENT_2",
            "PerUnitStorageThroughput": 250,
            "DataCompressionType": "NONE",
            "WeeklyMaintenanceStartTime": "7:03:00",
            "AutomaticBackupRetentionDays": 7,
            "DailyAutomaticBackupStartTime": "05:00",
            "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
            **(lustre or {}),
        },
        **changed,
    }


def user_data(text: str = NODE_CONFIG) -> dict[str, Any]:
    """Return what is kept of user data."""
    return summary(base64.b64encode(text.encode()).decode())


def answers(**changed: Any) -> dict[str, Any]:
    """Return the answers about a cluster with one node group, with others by call."""
    routes = {PUBLIC: "internet-gateway", PRIVATE: "nat", OTHER: "nat"}
    return {
        "DescribeCluster": cluster(),
        "DescribeNodegroup": [managed()],
        "DescribeSubnets": [
            {"SubnetId": subnet, "DefaultRoute": route} for subnet, route in routes.items()
        ],
        **changed,
    }


def read_eks(found: Mapping[str, Any]) -> Imported:
    """Return what becomes of answers about an EKS cluster."""
    return imported_as(EKS_ANSWERS, document_of("train", found), name="", region="us-west-2")
