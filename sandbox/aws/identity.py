"""What EKS, STS and EC2 know of a caller of a cluster, for the authenticator."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends
from moto.sts.models import sts_backends

from trainyard.sandbox.aws.eks.access import groups_of
from trainyard.sandbox.aws.eks.clusters import CREATOR
from trainyard.sandbox.aws.eks.store import AccessEntry, Cluster, eks_stores
from trainyard.sandbox.aws.environment import ACCOUNT_ID

_PARTITION = "aws"
_CREATOR_IN_MAP = {"username": "kubernetes-admin", "kubernetes_groups": ["system:masters"]}
"""Identity of the creator without an access entry; aws-auth does not show it.

https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html
"""


def caller_arn(access_key_id: str) -> str:
    """Return STS's ARN of an access key; that of the sandbox belongs to the creator."""
    backend = sts_backends[ACCOUNT_ID][_PARTITION]
    _, arn, _ = backend.get_caller_identity(access_key_id, "us-east-1")
    # moto reports its default user as one of STS, but users belong to IAM.
    return arn.replace(":sts:", ":iam:") if ":user/" in arn else arn


def identity(cluster_name: str, role_arn: str, session: str) -> dict[str, Any] | None:
    """Return the data for the authentication of a caller; None if the cluster does not exist.

    These are authentication mode, access entry, whether the caller is the creator of a cluster
    without entries, and private DNS name.

    Args:
        cluster_name: Name of the EKS cluster.
        role_arn: ARN of the IAM role, as in an access entry, or of a user.
        session: Session name of the assumed role; for an EC2 instance, its id.
    """
    for region, store in eks_stores[ACCOUNT_ID].items():
        cluster = store.clusters.get(cluster_name)
        if cluster is None:
            continue
        return {
            "authentication_mode": cluster.authentication_mode,
            "access_entry": _described(cluster.entry_of_role(role_arn))
            if cluster.uses_access_entries
            else None,
            "creator": _CREATOR_IN_MAP if _is_creator_in_map(cluster, role_arn) else None,
            "private_dns_name": _private_dns_name(region, session),
        }
    return None


def _described(entry: AccessEntry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    groups = [*entry.kubernetes_groups, *groups_of(entry.policies)]
    return {"username": entry.username, "kubernetes_groups": groups}


def _is_creator_in_map(cluster: Cluster, arn: str) -> bool:
    return not cluster.uses_access_entries and arn == f"arn:aws:iam::{ACCOUNT_ID}:user/{CREATOR}"


def _private_dns_name(region: str, instance_id: str) -> str | None:
    for instance in ec2_backends[ACCOUNT_ID][region].all_instances():
        if instance.id == instance_id and instance.state == "running":
            return instance.private_dns_name
    return None
