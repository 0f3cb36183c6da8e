"""What EKS leaves of a cluster that was deleted outside Pulumi: the cluster security group.

EKS makes it with the cluster, and the state of the stack does not have it. EKS deletes it with the
cluster, unless nodes of self-managed groups still use it. Then it keeps the VPC of the stack from
being deleted.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
    https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3073
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import console
from trainyard.components.plain_text import shell_word
from trainyard.workspace.target import Target


def delete_what_eks_left(target: Target) -> bool:
    """Delete the security group of the stack's cluster, which no longer exists; say what is left.

    Returns whether a group was deleted.
    """
    cluster = str(target.stack_file.cluster.get("name") or target.stack)
    with target.access():
        ec2 = target.client("ec2")
        try:
            deleted = [_is_deleted(ec2, each, target) for each in _groups(ec2, cluster)]
        except (BotoCoreError, ClientError) as error:
            console.progress(f"the security group of cluster {cluster} was not looked up: {error}")
            return False
    return any(deleted)


def _groups(ec2: Any, cluster: str) -> Iterator[str]:
    """Yield the ids of the groups with the name and the tag that EKS gives them."""
    filters = [
        {"Name": "group-name", "Values": [f"eks-cluster-sg-{cluster}-*"]},
        {"Name": f"tag:kubernetes.io/cluster/{cluster}", "Values": ["owned"]},
    ]
    name = re.compile(rf"eks-cluster-sg-{re.escape(cluster)}-\d+")
    for page in ec2.get_paginator("describe_security_groups").paginate(Filters=filters):
        for each in page["SecurityGroups"]:
            if name.fullmatch(each["GroupName"]):
                yield each["GroupId"]


def _is_deleted(ec2: Any, group_id: str, target: Target) -> bool:
    try:
        ec2.delete_security_group(GroupId=group_id)
    except ClientError as error:
        console.progress(
            f"{group_id}, which EKS made for the cluster, is left: {error}\n  to delete it:  aws "
            f"ec2 delete-security-group --region {target.region} --group-id {shell_word(group_id)}"
        )
        return False
    console.progress(f"deleted {group_id}, which EKS made for the cluster and left in the account")
    return True
