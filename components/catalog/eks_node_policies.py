"""AWS managed policies of the role of EKS nodes: those that a node needs, and those of add-ons.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html
    https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html: the
        policies and service accounts of the add-ons
    https://docs.aws.amazon.com/eks/latest/userguide/add-ons-iam.html: an add-on names the role of
        its pods itself
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NODE_POLICIES = frozenset(
    {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKSWorkerNodeMinimalPolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryReadOnly",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }
)
"""Policies that the kubelet, the VPC CNI and Session Manager use."""

ADDON_POLICIES: Mapping[str, str] = MappingProxyType(
    {
        "AmazonEBSCSIDriverPolicy": "aws-ebs-csi-driver",
        "AmazonEBSCSIDriverPolicyV2": "aws-ebs-csi-driver",
        "AmazonEFSCSIDriverPolicy": "aws-efs-csi-driver",
        "AmazonFSxFullAccess": "aws-fsx-csi-driver",
        "CloudWatchAgentServerPolicy": "amazon-cloudwatch-observability",
    }
)
"""Add-on whose pods need a policy, by the name of the policy without its path."""

ADDON_ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "ec2:AttachVolume": "aws-ebs-csi-driver",
        "elasticfilesystem:CreateAccessPoint": "aws-efs-csi-driver",
        "fsx:CreateFileSystem": "aws-fsx-csi-driver",
    }
)
"""Add-on whose pods need a policy of your own, by an action that only its policy allows."""

METADATA_READERS = frozenset({"amazon-cloudwatch-observability"})
"""Add-ons whose pods have a network of their own and need instance metadata.
https://github.com/aws/amazon-cloudwatch-agent/issues/249"""
