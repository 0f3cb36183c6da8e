"""Add-on policies of a node group: permissions for pods that use the node role.

eksctl v0.178 granted `autoscaler`, `ebs` and `fsx` as inline statements on every resource of the
account. Here EBS is the AWS managed policy for the driver, the autoscaler can change only the Auto
Scaling groups of its own cluster, and FSx is limited to the calls of its driver and the file
systems that it created.

Sources:
    https://docs.aws.amazon.com/eks/latest/best-practices/cas.html (autoscaler)
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonEBSCSIDriverPolicyV2.html
    https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/docs/install.md
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trainyard.components.config.eks import AddonPolicy

Document = dict[str, Any]

_FSX_VOLUME = "CSIVolumeName"
"""Tag that the FSx driver sets on each file system that it creates: `VolumeNameTagKey` of
https://github.com/kubernetes-sigs/aws-fsx-csi-driver/blob/master/pkg/cloud/cloud.go"""

_MANAGED: dict[AddonPolicy, str] = {
    "cloudwatch": "CloudWatchAgentServerPolicy",
    # Version 2 is limited to volumes that the driver created, by their tags.
    "ebs": "AmazonEBSCSIDriverPolicyV2",
}


def managed_policies(wanted: Iterable[AddonPolicy]) -> tuple[str, ...]:
    """Return the names of the AWS managed policies among the add-on policies."""
    return tuple(_MANAGED[policy] for policy in wanted if policy in _MANAGED)


def inline_policies(
    wanted: Iterable[AddonPolicy], *, partition: str, cluster_name: str
) -> dict[AddonPolicy, Document]:
    """Return the documents of the inline add-on policies, by name."""
    documents: dict[AddonPolicy, Document] = {
        "autoscaler": _autoscaler(cluster_name),
        "fsx": _fsx(partition),
    }
    return {policy: documents[policy] for policy in inline_names(wanted)}


def inline_names(wanted: Iterable[AddonPolicy]) -> tuple[AddonPolicy, ...]:
    """Return the inline add-on policies, without duplicates."""
    return tuple(policy for policy in dict.fromkeys(wanted) if policy not in _MANAGED)


def autoscaler_tags(cluster_name: str) -> dict[str, str]:
    """Return the tags by which the Cluster Autoscaler finds a cluster's Auto Scaling groups.

    EKS tags the Auto Scaling groups of managed node groups itself. The policy requires the tags for
    changes.
    https://docs.aws.amazon.com/eks/latest/best-practices/cas.html
    """
    return {
        "k8s.io/cluster-autoscaler/enabled": "true",
        f"k8s.io/cluster-autoscaler/{cluster_name}": "owned",
    }


def _autoscaler(cluster_name: str) -> Document:
    return _document(
        _allow(
            # The list in the README, where `…RequirementsPages` is the SDK name of the last call.
            "autoscaling:DescribeAutoScalingGroups",
            "autoscaling:DescribeAutoScalingInstances",
            "autoscaling:DescribeLaunchConfigurations",
            "autoscaling:DescribeScalingActivities",
            "autoscaling:DescribeTags",
            "ec2:DescribeImages",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeLaunchTemplateVersions",
            "ec2:GetInstanceTypesFromInstanceRequirements",
            "eks:DescribeNodegroup",
        ),
        {
            **_allow(
                "autoscaling:SetDesiredCapacity",
                "autoscaling:TerminateInstanceInAutoScalingGroup",
            ),
            "Condition": {
                "StringEquals": {
                    f"aws:ResourceTag/{key}": value
                    for key, value in autoscaler_tags(cluster_name).items()
                }
            },
        },
    )


def _fsx(partition: str) -> Document:
    roles = f"arn:{partition}:iam::*:role/aws-service-role"
    return _document(
        _allow("fsx:DescribeFileSystems", "s3:ListBucket"),
        {
            **_allow("fsx:CreateFileSystem", "fsx:TagResource"),
            "Condition": {"StringLike": {f"aws:RequestTag/{_FSX_VOLUME}": "*"}},
        },
        {
            **_allow("fsx:DeleteFileSystem", "fsx:UpdateFileSystem"),
            "Condition": {"StringLike": {f"aws:ResourceTag/{_FSX_VOLUME}": "*"}},
        },
        {
            **_allow("iam:CreateServiceLinkedRole"),
            "Condition": {"StringLike": {"iam:AWSServiceName": ["fsx.amazonaws.com"]}},
        },
        _allow(
            # FSx creates a second service-linked role for file systems linked to S3.
            "iam:CreateServiceLinkedRole",
            "iam:AttachRolePolicy",
            "iam:PutRolePolicy",
            resource=f"{roles}/s3.data-source.lustre.fsx.amazonaws.com/*",
        ),
    )


def _allow(*actions: str, resource: str = "*") -> dict[str, Any]:
    return {"Effect": "Allow", "Action": list(actions), "Resource": resource}


def _document(*statements: dict[str, Any]) -> Document:
    return {"Version": "2012-10-17", "Statement": list(statements)}
