"""What EKS and EC2 know of a role that asks a cluster for admission (the authenticator asks)."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends

from sandbox.aws.eks.store import eks_stores
from sandbox.aws.environment import ACCOUNT_ID


def identity(cluster_name: str, role_arn: str, session: str) -> dict[str, Any] | None:
    """Return authentication mode, access entry and private DNS name; None: no such cluster.

    Args:
        cluster_name: Name of the EKS cluster.
        role_arn: ARN of the IAM role, as in an access entry.
        session: Session name of the assumed role: of an EC2 instance, its id.
    """
    for region, store in eks_stores[ACCOUNT_ID].items():
        cluster = store.clusters.get(cluster_name)
        if cluster is None:
            continue
        entry = cluster.entry_of_role(role_arn)
        return {
            "authentication_mode": cluster.authentication_mode,
            "access_entry": None
            if entry is None or not cluster.uses_access_entries
            else {"username": entry.username, "kubernetes_groups": list(entry.kubernetes_groups)},
            "private_dns_name": _private_dns_name(region, session),
        }
    return None


def _private_dns_name(region: str, instance_id: str) -> str | None:
    for instance in ec2_backends[ACCOUNT_ID][region].all_instances():
        if instance.id == instance_id and instance.state == "running":
            return instance.private_dns_name
    return None
