"""The access entry that EKS creates for the creator of a cluster.

https://docs.aws.amazon.com/eks/latest/userguide/setting-up-access-entries.html
"""

from __future__ import annotations

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.store import AccessEntry, Cluster

CLUSTER_ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"

CREATOR = "moto"
"""Name of the IAM user that moto assigns to callers without other credentials."""


def add_creator_entry(cluster: Cluster, region: str, account_id: str) -> None:
    """Add the creator's access entry, which is visible only if access entries are enabled."""
    now = CLOCK.now()
    principal = f"arn:aws:iam::{account_id}:user/{CREATOR}"
    cluster.access_entries[principal] = AccessEntry(
        arn=(
            f"arn:aws:eks:{region}:{account_id}:access-entry/{cluster.name}/user/{account_id}/"
            f"{CREATOR}/creator"
        ),
        cluster_name=cluster.name,
        principal_arn=principal,
        entry_type="STANDARD",
        username=principal,
        kubernetes_groups=(),
        created_at=now,
        policies={
            CLUSTER_ADMIN: {
                "policyArn": CLUSTER_ADMIN,
                "accessScope": {"type": "cluster", "namespaces": []},
                "associatedAt": now,
                "modifiedAt": now,
            }
        },
    )
